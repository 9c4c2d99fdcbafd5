"""The form of a request, kept while one types: keeping it as a draft, sending it, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from inventory.models import GpuModel
from kernel import clock, form_drafts
from kernel.calendar import local_day
from kernel.errors import Conflict, Invalid, NotFound
from kernel.models import FormDraft
from portal.pages.request import keeping as names
from portal.pages.request.consequence import consequence_of
from portal.pages.request.fields import RequestForm
from portal.pages.request.files import add_files, drop_file, move_to_draft
from portal.pages.request.lines import model_rows
from portal.pages.request.sheet import Sheet, typed_of
from portal.pages.request.totals import held_of
from projects import policies
from projects.models import Project
from projects.policies import visible_to
from projects.registration import keeping as kept
from projects.registration.keeping import Keeping
from quotas.errors import RequestChanged, RequestNotEditable, RequestOpen, RequestSent
from quotas.models import QuotaRequest
from quotas.requests.asking import asked_of, holdings_of
from quotas.requests.selectors import open_question, visible_requests
from quotas.services.claims import require_active
from quotas.services.requests import require_editable
from quotas.services.sending import RequestSending, request_send_edit, request_send_new, request_sent_before
from quotas.states import RequestState

USUAL = timedelta(days=29)
"""From the first day on: thirty days."""


class Create(View):
    """A new request of a project, or one that was begun before (``?draft=``)."""

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person, project = _asker(request, project_id)
        keeping, draft = kept.opened(request, person, names.for_new(project.pk))
        return _page(request, Shown(project, _form(draft, _usual(request)), keeping, draft=draft))

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person, project = _asker(request, project_id)
        keeping = kept.sent(request, names.for_new(project.pk))
        sheet = _sheet(project, RequestForm(request.POST))
        sending = _sending(request, keeping, sheet, project)
        code = 422
        try:
            if request.FILES:
                row = move_to_draft(person, project, keeping)
                return add_files(request, person, row, names.for_edit(row))
            row_or_none = request_sent_before(person, sending)
            if row_or_none is None and _is_fine(request, sheet, sending):
                row_or_none = request_send_new(actor=person, project_id=project.pk, sending=sending)
            if row_or_none is not None:
                return _saved(request, row_or_none, sending)
        except Conflict as refusal:
            keeping, code = _refused(sheet, keeping, refusal), 409
        except Invalid as refusal:
            sheet.refuse(refusal)
        keeping = kept.refused(request, person, keeping)
        return _page(request, Shown(project, sheet.form, keeping), code)


class Edit(View):
    """A draft, or a request that was asked back."""

    def get(self, request: HttpRequest, request_id: int) -> HttpResponse:
        person, row = _own(request, request_id)
        require_editable(row)
        keeping, draft = kept.opened(request, person, names.for_edit(row))
        now = clock.now()
        held = held_of(holdings_of(row, now), asked_of(row), now)
        return _page(request, Shown(row.project, _form(draft, typed_of(row, held, now)), keeping, row, draft))

    def post(self, request: HttpRequest, request_id: int) -> HttpResponse:
        person, row = _own(request, request_id)
        keeping = kept.sent(request, names.for_edit(row))
        act = request.POST.get("act", "")
        if request.FILES:
            return add_files(request, person, row, keeping)
        if act.startswith("drop:"):
            return drop_file(request, person, row, keeping, act.removeprefix("drop:"))
        sheet = _sheet(row.project, RequestForm(request.POST), row)
        sending = _sending(request, keeping, sheet, row.project)
        code = 422
        try:
            known = request_sent_before(person, sending)
            if known is None:
                require_editable(row)
            if known is None and _is_fine(request, sheet, sending):
                known = request_send_edit(actor=person, request_id=row.pk, sending=sending)
            if known is not None:
                return _saved(request, known, sending)
        except RequestNotEditable:
            raise
        except Conflict as refusal:
            keeping, code = _refused(sheet, keeping, refusal), 409
            keeping = replace(keeping, seen=names.for_edit(row).seen)
        except Invalid as refusal:
            sheet.refuse(refusal)
        keeping = kept.refused(request, person, keeping)
        return _page(request, Shown(row.project, sheet.form, keeping, row), code)


@require_POST
def consequence(request: HttpRequest, project_id: int) -> HttpResponse:
    """The part beside the form for what stands in it now; a page of its own without a script."""
    person, project = _asker(request, project_id)
    sheet = _sheet(project, RequestForm(request.POST))
    context = {"project": project, "sheet": sheet, "seen": consequence_of(person, sheet)}
    is_part = request.headers.get("HX-Request")
    return render(request, f"portal/request/{'_consequence' if is_part else 'consequence'}.html", context)


def _asker(request: HttpRequest, project_id: int) -> tuple[Person, Project]:
    """A lead of an active project. Raises ``NotFound``, ``Forbidden``, ``NoResources``."""
    person = require_signed_in(request.user)
    project = visible_to(person).filter(pk=project_id).first()
    if project is None:
        raise NotFound
    policies.require(person, "request_quota", project)
    require_active(project)
    return person, project


def _own(request: HttpRequest, request_id: int) -> tuple[Person, QuotaRequest]:
    """A request of a project that this person leads. Raises ``NotFound``, ``Forbidden``."""
    person = require_signed_in(request.user)
    row = visible_requests(person).filter(pk=request_id).first()
    if row is None:
        raise NotFound
    policies.require(person, "request_quota", row.project)
    return person, row


def _usual(request: HttpRequest) -> dict[str, Any]:
    """What most ask for: thirty days from today."""
    today = local_day(clock.now())
    model = GpuModel.objects.filter(name=request.GET.get("model", "")[:100]).first()
    return {"gpu_model": model.pk if model else None, "length": "time", "from_on": today, "to_on": today + USUAL}


def _form(draft: FormDraft | None, usual: dict[str, Any]) -> RequestForm:
    """As it was typed, or as the request stands."""
    if draft is None:
        return RequestForm(initial=usual)
    typed = {name: form_drafts.first(draft.data, name) for name in draft.data}
    return RequestForm(initial={**dict.fromkeys(usual, ""), **typed, "no_limit": "no_limit" in draft.data})


def _sheet(project: Project, form: RequestForm, row: QuotaRequest | None = None) -> Sheet:
    question = open_question(row) if row is not None else None
    return Sheet(form, project, {model.pk: model for model in GpuModel.objects.all()}, clock.now(), question)


def _is_fine(request: HttpRequest, sheet: Sheet, sending: RequestSending) -> bool:
    return sheet.judge(to_submit=sending.is_submission, seen_held=request.POST.get("_held", "")[:60])


def _sending(request: HttpRequest, keeping: Keeping, sheet: Sheet, project: Project) -> RequestSending:
    """Of a new request the draft is found by its key alone: another that was begun stays."""
    is_edit = keeping.form == names.EDIT
    return RequestSending(
        facts=sheet.facts(),
        key=keeping.key,
        form=keeping.form,
        typed={**form_drafts.plain(request.POST.lists()), "_project": [str(project.pk)]},
        subject=keeping.subject if is_edit else "",
        is_submission=request.POST.get("act") == "submit",
        answer=sheet.form.value_of("answer") or "",
        seen=keeping.seen or None if is_edit else None,
    )


def _saved(request: HttpRequest, row: QuotaRequest, sending: RequestSending) -> HttpResponse:
    row.refresh_from_db(fields=["state"])
    if not sending.is_submission:
        messages.success(request, _("The draft is kept. You can go on with it at any time."))
    elif row.state == RequestState.APPROVED:
        messages.success(request, _("Granted at once, by the policy."))
    else:
        messages.success(request, _("Sent. You will be told how it is decided, and it stands here."))
    return redirect("quota-request", row.pk)


def _refused(sheet: Sheet, keeping: Keeping, refusal: Conflict) -> Keeping:
    """Says what is in the way; what was typed after the form was sent gets a key of its own."""
    form = sheet.form
    if isinstance(refusal, RequestSent):
        address = reverse("quota-request", args=[refusal.data["request"]])
        text = _(
            "This form was sent before, with other values, and is the request at %(address)s. Nothing was saved now."
        )
        form.add_error(None, text % {"address": address} + " " + _("Sending it again makes a request of its own."))
        return replace(keeping, key=uuid4(), version=0)
    if isinstance(refusal, RequestChanged):
        text = _(
            "Somebody else changed this request while you were writing: %(fields)s. Nothing of yours is saved yet."
        )
        form.add_error(None, text % {"fields": ", ".join(refusal.data["changed"])})
        return keeping
    form.add_error("gpu_model" if isinstance(refusal, RequestOpen) else None, refusal.message)
    return keeping


@dataclass(frozen=True, slots=True)
class Shown:
    """The form as a page shows it. ``row``: the request that is edited; ``draft``: what the form was restored from."""

    project: Project
    form: RequestForm
    keeping: Keeping
    row: QuotaRequest | None = None
    draft: FormDraft | None = None


def _page(request: HttpRequest, shown: Shown, code: int = 200) -> HttpResponse:
    form, row = shown.form, shown.row
    form.mark_needed()
    values = {name: form[name].value() for name in form.fields}
    sheet = _sheet(
        shown.project, RequestForm(MultiValueDict({k: [v] for k, v in values.items() if v not in (None, "", False)}))
    )
    context: dict[str, Any] = {
        "project": shown.project,
        "form": form,
        "sheet": sheet,
        "models": model_rows(shown.project, sheet.model),
        "keeping": shown.keeping,
        "draft": shown.draft,
        "row": row,
        "own_id": row.pk if row else None,
        "question": open_question(row) if row is not None else None,
        "files": _files(row),
        "faults": form.fault_count if form.is_bound else 0,
    }
    return render(request, "portal/request/form.html", context, status=code)


def _files(row: QuotaRequest | None) -> Sequence[Any]:
    return [] if row is None else list(row.attachments.defer("content"))
