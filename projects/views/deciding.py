"""The page on which an admin or a director decides, and the steps that ask once before they are taken."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_http_methods

from accounts.models import Role
from accounts.policies import require_role, require_signed_in
from approvals.errors import ContentDiffers
from approvals.models import Answer
from kernel.dialogs import ask
from kernel.errors import Forbidden, Invalid, NotFound
from kernel.forms import add_errors
from projects import impact, policies, selectors, services
from projects.content import FIELDS
from projects.errors import OwnProject
from projects.forms import NeededReasonForm, ReasonForm, TierForm
from projects.models import Project
from projects.selectors import HistoryItem, ProjectDetail
from projects.similar import similar_to
from projects.states import ProjectState
from projects.views.frame import framed, opened, title
from projects.words import word

Service = Callable[..., Project]
_CONTENT = frozenset(FIELDS) | {"milestone", "member"}
"""What the history calls the parts of the content that an approval holds for."""
NEED_REASON = frozenset({"suspend", "close"})


class Decide(View):
    """What is asked and by whom; the answer holds for the content that is shown and no other.

    The portal, which knows what is promised, puts that beside it: ``evidence`` and the template.
    """

    template = "projects/decide.html"

    def evidence(self, detail: ProjectDetail) -> dict[str, Any]:
        """What a room above adds to the page's context."""
        return {}

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        detail = opened(request, project_id, "read")
        if detail.project.state != ProjectState.SUBMITTED:
            require_role(request.user, Role.ADMIN, Role.DIRECTOR)
            text = _("There is nothing to decide: the project is %(state)s.")
            messages.info(request, text % {"state": ProjectState(detail.project.state).label})
            return redirect("project", project_id)
        require_vote(detail)
        return self._page(request, detail, ReasonForm())

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person = require_signed_in(request.user)
        detail = opened(request, project_id, "read")
        answer = request.POST.get("answer", "")
        form = ReasonForm(request.POST)
        if answer not in Answer.values or not form.is_valid():
            return self._page(request, detail, form)
        try:
            seen, reason = request.POST.get("seen", ""), form.cleaned_data["reason"]
            project = services.project_decide(
                actor=person, project_id=project_id, answer=answer, seen=seen, reason=reason
            )
        except Invalid as refusal:
            add_errors(form, refusal)
            return self._page(request, detail, form)
        except ContentDiffers as refusal:
            changed = [word(field) for field in refusal.data["changed"]]
            return self._page(request, detail, form, changed)
        said = _("%(project)s is %(state)s now.")
        if project.state == ProjectState.DRAFT:
            said = _("%(project)s is with its leads, with your question.")
        messages.success(request, said % {"project": title(project), "state": ProjectState(project.state).label})
        return redirect("project", project_id)

    def _page(
        self, request: HttpRequest, detail: ProjectDetail, form: ReasonForm, changed: list[str] | None = None
    ) -> HttpResponse:
        project = detail.project
        steps_before, changes = since_last(selectors.history(project))
        context = {
            **framed(request, detail),
            "form": form,
            "changed": changed,
            "steps_before": steps_before,
            "changes": changes,
            "thread": selectors.questions(project),
            "similar": similar_to(
                name=project.name,
                goal=project.goal,
                datasets=project.datasets,
                among=policies.visible_to(request.user),
                exclude=project.pk,
            ),
            **self.evidence(detail),
        }
        code = 409 if changed is not None else 422 if form.errors else 200
        return render(request, self.template, context, status=code)


def require_vote(detail: ProjectDetail) -> None:
    """Raises where this person may not vote now."""
    if "approve" not in detail.can:
        raise OwnProject(data={"action": "decide"}) if detail.standing.is_own else Forbidden()


def since_last(story: Sequence[HistoryItem]) -> tuple[list[HistoryItem], list[HistoryItem] | None]:
    """Its steps so far; and what of its content changed between the last two submissions, None for a first one."""
    steps = [item for item in story if item.kind == "state"]
    submitted = [index for index, item in enumerate(story) if item.kind == "state" and item.what == "submit"]
    if len(submitted) < 2:
        return steps, None
    between = story[submitted[-2] : submitted[-1]]
    return steps, [item for item in between if item.kind == "change" and item.what in _CONTENT]


@require_http_methods(["GET", "POST"])
def step(request: HttpRequest, project_id: int, event: str) -> HttpResponse:
    """Withdraw, suspend, resume or close: asks once, naming what follows; then does it."""
    found = _STEPS.get(event)
    if found is None:
        raise NotFound
    action, service = found
    detail = opened(request, project_id, action)
    Project.machine.target(detail.project.state, event)
    form = (NeededReasonForm if event in NEED_REASON else ReasonForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            reason = form.cleaned_data["reason"]
            service(actor=require_signed_in(request.user), project_id=project_id, reason=reason)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, f"{title(detail.project)}: {word(event)}.")
            return redirect("project", project_id)
    return _ask(request, detail, form, _question(detail, event))


@require_http_methods(["GET", "POST"])
def tier(request: HttpRequest, project_id: int) -> HttpResponse:
    """Set the tier in force from now on."""
    detail = opened(request, project_id, "set_tier")
    form = TierForm(request.POST or None, initial={"tier": detail.tier})
    if request.method == "POST" and form.is_valid():
        try:
            services.tier_set(actor=require_signed_in(request.user), project_id=project_id, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The tier is in force from now on."))
            return redirect("project", project_id)
    words = {
        "title": _("Priority tier of %(project)s") % {"project": title(detail.project)},
        "text": _("It decides the order of its waiting jobs from now on. Running jobs are not touched."),
        "label": _("Set tier"),
        "action": reverse("projects:tier", args=[project_id]),
    }
    return _ask(request, detail, form, words)


def _question(detail: ProjectDetail, event: str) -> dict[str, Any]:
    """What is asked before a step is taken, and what it hurts."""
    texts = {
        "withdraw": (_("Withdraw %(project)s?"), _("It becomes a draft again and can be changed."), _("Withdraw")),
        "resume": (_("Resume %(project)s?"), _("Its people can run jobs again within its quotas."), _("Resume")),
        "suspend": (_("Suspend %(project)s?"), _("Nothing of it is launched until it is resumed."), _("Suspend")),
        "close": (_("Close %(project)s for good?"), _("This cannot be undone. Its history stays."), _("Close")),
    }
    ask, text, label = texts[event]
    is_danger = event in NEED_REASON
    return {
        "title": ask % {"project": title(detail.project)},
        "text": text,
        "label": label,
        "danger": is_danger,
        "affected": impact.of_stopping(detail.project) if is_danger else [],
        "action": reverse("projects:step", args=[detail.project.pk, event]),
    }


def _ask(request: HttpRequest, detail: ProjectDetail, form: ReasonForm, words: dict[str, Any]) -> HttpResponse:
    context = {**words, "fields": form, "cancel_url": reverse("project", args=[detail.project.pk])}
    return ask(request, context)


_STEPS: dict[str, tuple[policies.Action, Service]] = {
    "withdraw": ("withdraw", services.project_withdraw),
    "suspend": ("suspend", services.project_suspend),
    "resume": ("resume", services.project_resume),
    "close": ("close", services.project_close),
}
