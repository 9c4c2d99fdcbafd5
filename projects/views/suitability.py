"""How fast each GPU model is for a project: its lead states what was measured, an admin confirms it."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_http_methods

from accounts.policies import require_signed_in
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.formats import number
from kernel.forms import add_errors
from projects import policies, services, suitability
from projects.forms import NeededReasonForm, ReasonForm
from projects.measurement_form import MeasurementForm
from projects.models import Measurement
from projects.selectors import ProjectDetail
from projects.views.frame import framed, opened, title
from projects.words import measured

PAGE_SIZE = 100


class Suitability(View):
    """What counts for each model, what waits, and everything that was ever stated."""

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        return self._page(request, opened(request, project_id))

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        actor = require_signed_in(request.user)
        detail = opened(request, project_id, "measure")
        form = MeasurementForm(request.POST)
        if form.is_valid():
            try:
                row = services.measurement_state(actor=actor, project_id=project_id, stated=form.stated())
            except Invalid as refusal:
                add_errors(form, refusal)
            else:
                said = _("Stated for %(model)s. It counts once an admin has confirmed it.")
                messages.success(request, said % {"model": row.gpu_model.title})
                return redirect("projects:suitability", project_id)
        return self._page(request, detail, form)

    def _page(self, request: HttpRequest, detail: ProjectDetail, form: MeasurementForm | None = None) -> HttpResponse:
        stated = suitability.measurements(detail.project)
        page = Paginator(stated, PAGE_SIZE).get_page(request.GET.get("page"))
        unit = next((row.unit for row in page if row.unit), "")
        lines = suitability.model_lines(detail.project)
        context = {
            **framed(request, detail, "suitability"),
            "lines": lines,
            "is_alone": any(line.now.is_alone for line in lines),
            "page": page,
            "form": form or (MeasurementForm(unit=unit) if "measure" in detail.can else None),
        }
        is_refused = form is not None and form.errors
        return render(request, "projects/suitability.html", context, status=422 if is_refused else 200)


@require_http_methods(["GET", "POST"])
def judge(request: HttpRequest, project_id: int, measurement_id: int, event: str) -> HttpResponse:
    """Confirm, reject, withdraw or revoke: asks once, saying what follows; then does it."""
    actor = require_signed_in(request.user)
    action, service, has_reason = _ACTS[event]
    detail = opened(request, project_id, action)
    row = suitability.measurements(detail.project).filter(pk=measurement_id).first()
    if row is None:
        raise NotFound
    Measurement.machine.target(row.state, event)
    form = (NeededReasonForm if has_reason else ReasonForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            service(actor=actor, measurement_id=row.pk, reason=form.cleaned_data["reason"])
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("Kept. The table shows what counts now."))
            return redirect("projects:suitability", project_id)
    context = {**_question(detail, row, event), "fields": form, "danger": has_reason, "action": request.path}
    context["cancel_url"] = reverse("projects:suitability", args=[project_id])
    return ask(request, context)


def _question(detail: ProjectDetail, row: Measurement, event: str) -> dict[str, Any]:
    """What is asked, and what would count afterwards."""
    asks = {
        "confirm": (_("Confirm “%(stated)s” for %(model)s?"), _("Confirm")),
        "reject": (_("Reject “%(stated)s” for %(model)s?"), _("Reject")),
        "withdraw": (_("Withdraw “%(stated)s” for %(model)s?"), _("Withdraw")),
        "revoke": (_("Let “%(stated)s” for %(model)s count no more?"), _("Revoke")),
    }
    ask, label = asks[event]
    words = {"stated": measured(row), "model": row.gpu_model.title}
    kept = _("What counts for %(project)s stays as it is.") % {"project": title(detail.project)}
    affected = suitability.difference(row, event)
    lines = [
        _("%(model)s: %(before)s → %(after)s")
        % {"model": model.title, "before": number(before, 3), "after": number(after, 3)}
        for model, before, after in affected
    ]
    text = _("From the next review on, %(project)s is reckoned with:") % {"project": title(detail.project)}
    return {"title": ask % words, "label": label, "text": text if lines else kept, "affected": lines}


_Act = tuple[policies.Action, Callable[..., Measurement], bool]
_ACTS: dict[str, _Act] = {
    "confirm": ("judge_measurement", services.measurement_confirm, False),
    "reject": ("judge_measurement", services.measurement_reject, True),
    "revoke": ("judge_measurement", services.measurement_revoke, True),
    "withdraw": ("measure", services.measurement_withdraw, False),
}
