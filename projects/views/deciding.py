"""The steps of a project that ask once before they are taken."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.policies import require_signed_in
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from projects import impact, policies, services
from projects.forms import NeededReasonForm, ReasonForm, TierForm
from projects.models import Project
from projects.selectors import ProjectDetail
from projects.views.frame import opened, title
from projects.words import word

Service = Callable[..., Project]
NEED_REASON = frozenset({"suspend", "close"})


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
