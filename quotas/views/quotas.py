"""Who holds how much: the organisation's page, a project's story, and the grant."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import has_role, require_role, require_signed_in
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.forms import add_errors
from projects.models import Project
from projects.views.frame import framed, opened
from quotas import selectors, services
from quotas.forms import AtForm, GrantForm, ReasonForm
from quotas.models import Claim
from quotas.preview import Preview, grant_preview
from quotas.requests.selectors import listed_requests
from quotas.states import OPEN, RequestState

PAGE_SIZE = 500
UNANSWERED = (RequestState.DRAFT, *OPEN)
MOST_UNANSWERED = 20


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Capacity, reserve and promises of every model, and who holds what, now or at ``?at=``."""
    person = require_signed_in(request.user)
    form = AtForm(request.GET or None)
    chosen = form.cleaned_data["at"] if form.is_valid() else None
    at = chosen or clock.now()
    page = Paginator(selectors.quota_rows(person, at), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "at": at,
        "is_now": chosen is None,
        "models": selectors.model_lines(at),
        "page": page,
        "rows": selectors.with_use(list(page), at),
        "may_grant": has_role(person, Role.ADMIN),
    }
    return render(request, "quotas/list.html", context, status=422 if form.errors else 200)


@require_GET
def project_story(request: HttpRequest, project_id: str) -> HttpResponse:
    """Every claim a project ever had, newest first: how much, when, by whom and why (QUO5)."""
    person = require_signed_in(request.user)
    detail = opened(request, int(project_id))
    project = detail.project
    page = Paginator(selectors.history(project.pk), PAGE_SIZE).get_page(request.GET.get("page"))
    now = clock.now()
    context = {
        **framed(request, detail, "quota"),
        "page": page,
        "rows": selectors.with_use(list(selectors.quota_rows(person, now).filter(project=project)), now),
        "now": now,
        "may_grant": has_role(person, Role.ADMIN),
        "may_ask": "request_quota" in detail.can,
        "unanswered": listed_requests(person).filter(project=project, state__in=UNANSWERED)[:MOST_UNANSWERED],
    }
    return render(request, "quotas/project.html", context)


class Grant(View):
    """The grant form, with its consequence beside it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require_role(request.user, Role.ADMIN)
        return self._page(request, GrantForm(initial={name: request.GET.get(name) for name in request.GET}))

    def post(self, request: HttpRequest) -> HttpResponse:
        actor = require_role(request.user, Role.ADMIN)
        form = GrantForm(request.POST)
        if form.is_valid():
            try:
                claim = services.quota_grant(actor=actor, grant=form.spec())
            except Invalid as refusal:
                add_errors(form, refusal)
            except (Conflict, Forbidden) as refusal:
                form.add_error(None, refusal.message)
            else:
                messages.success(request, _("The quota of %(project)s is set.") % {"project": claim.project})
                return redirect("quotas:project", claim.project_id)
        return self._page(request, form)

    def _page(self, request: HttpRequest, form: GrantForm) -> HttpResponse:
        context = {"form": form, **_consequence(form.data or form.initial)}
        return render(request, "quotas/grant.html", context, status=422 if form.errors else 200)


@require_GET
def preview(request: HttpRequest) -> HttpResponse:
    """The consequence of the form as it stands, for htmx."""
    require_role(request.user, Role.ADMIN)
    return render(request, "quotas/_preview.html", _consequence(request.GET))


@require_http_methods(["GET", "POST"])
def end(request: HttpRequest, claim_id: str) -> HttpResponse:
    """Asks once, naming who loses what; then ends the claim."""
    claim = selectors.visible_claims(require_signed_in(request.user)).filter(pk=int(claim_id)).first()
    if claim is None or claim.project is None:
        raise NotFound
    actor = require_role(request.user, Role.ADMIN)
    form = ReasonForm(request.POST or None)
    if form.is_valid():
        services.claim_end(actor=actor, claim_id=claim.pk, reason=form.cleaned_data["reason"])
        messages.success(request, _("The quota has ended."))
        return redirect("quotas:project", claim.project_id)
    context = {
        "title": _("End this quota of %(project)s?") % {"project": claim.project.name},
        "text": _("Jobs that run protected stay protected; nothing new starts on this guarantee."),
        "affected": [selectors.in_words(claim)],
        "fields": form,
        "action": request.path,
        "label": _("End"),
        "danger": True,
        "cancel_url": reverse("quotas:project", args=[claim.project_id]),
    }
    return ask(request, context)


def _consequence(data: Any) -> dict[str, object]:
    """Preview of whatever of the form can be read; nothing while it is incomplete."""
    form = GrantForm(data)
    form.is_valid()
    given = form.cleaned_data
    project: Project | None = given.get("project")
    shown: Preview | None = None
    model = given.get("gpu_model")
    resource = given.get("resource") or ""
    if project is not None and (resource != "gpu" or model is not None):
        shown = grant_preview(
            project=project,
            resource=resource,
            gpu_model=model if resource == "gpu" else None,
            effective_from=given.get("effective_from"),
            effective_to=given.get("effective_to"),
        )
    replaced: list[tuple[Claim, object]] = [(row.claim, row) for row in shown.replaced] if shown else []
    return {"preview": shown, "replaced": replaced, "asked": given.get("guaranteed"), "model": model}
