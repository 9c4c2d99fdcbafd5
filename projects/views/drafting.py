"""Registering a project and changing it: one form, kept while one types; saving keeps a draft in the registry,
submitting asks for a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.views import View

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import form_drafts
from kernel.errors import Conflict, Invalid
from kernel.models import FormDraft
from projects import policies, services
from projects.content import changed_fields, missing_among, missing_for_submit
from projects.errors import AlreadySent, ContentChanged
from projects.models import Project
from projects.registration import keeping as kept
from projects.registration.keeping import Keeping
from projects.registration.progress import progress
from projects.registration.sheet import ProjectForms
from projects.selectors import ProjectDetail, open_question, project_detail
from projects.services import Sending
from projects.states import ProjectState
from projects.words import word


class Create(View):
    """A new registration, or one that was begun before (``?draft=``)."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        keeping, draft = kept.opened(request, person, kept.fresh(kept.NEW))
        missing = _missing_of(draft.data) if draft else missing_among({})
        forms = ProjectForms(draft=draft.data if draft else None)
        return _page(request, Shown(forms, keeping, missing, draft=draft))

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        keeping, forms = kept.sent(request, kept.fresh(kept.NEW)), ProjectForms(request.POST)
        sending = _sending(request, keeping, forms)
        code = 422
        try:
            project = services.sent_before(person, sending)
            if project is None and forms.judge(person, to_submit=sending.is_submission):
                project = services.registration_create(actor=person, sending=sending)
            if project is not None:
                return _saved(request, project, sending)
        except Invalid as refusal:
            forms.add_errors(refusal)
        except AlreadySent as refusal:
            keeping, code = _sent_already(forms, keeping, refusal), 409
        keeping = kept.refused(request, person, keeping)
        return _page(request, Shown(forms, keeping, forms.missing()), code)


class Edit(View):
    """A draft, or what may still change of an approved project."""

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person = require_signed_in(request.user)
        detail = _opened(request, project_id)
        keeping, draft = kept.opened(request, person, _about(detail))
        forms = ProjectForms(detail=detail, draft=draft.data if draft else None)
        missing = _missing_of(draft.data) if draft else missing_for_submit(detail.project)
        return _page(request, Shown(forms, keeping, missing, detail, draft))

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person = require_signed_in(request.user)
        try:
            detail = _opened(request, project_id)
        except Conflict:
            return _sent_twice(request, person, project_id)
        keeping, forms = kept.sent(request, _about(detail)), ProjectForms(request.POST, detail)
        sending = _sending(request, keeping, forms, has_rows="edit" in detail.can)
        has_question = _question(detail) is not None
        code = 422
        try:
            project = services.sent_before(person, sending)
            if project is None and forms.judge(person, to_submit=sending.is_submission, has_question=has_question):
                project = services.registration_edit(actor=person, project_id=project_id, sending=sending)
            if project is not None:
                return _saved(request, project, sending)
        except Invalid as refusal:
            forms.add_errors(refusal)
        except ContentChanged as refusal:
            forms.add_error(_overtaken(refusal))
            keeping = replace(keeping, seen=detail.content)
        except AlreadySent as refusal:
            keeping, code = replace(_sent_already(forms, keeping, refusal), seen=detail.content), 409
        keeping = kept.refused(request, person, keeping)
        return _page(request, Shown(forms, keeping, forms.missing(), detail), code)


def _opened(request: HttpRequest, project_id: int) -> ProjectDetail:
    detail = project_detail(request.user, project_id)
    here = policies.standing(request.user, detail.project)
    if not here.may("reclassify"):
        policies.require(request.user, "edit", detail.project)
    if not {"edit", "reclassify"} & set(detail.can):
        raise services.not_editable(detail.project, {})
    return detail


def _about(detail: ProjectDetail) -> Keeping:
    return kept.fresh(kept.EDIT, kept.subject_of(detail.project.pk), detail.content)


def _question(detail: ProjectDetail) -> Any:
    """The question that this form must answer, if one is open."""
    return open_question(detail.project) if detail.project.state == ProjectState.DRAFT else None


def _sending(request: HttpRequest, keeping: Keeping, forms: ProjectForms, *, has_rows: bool = True) -> Sending:
    forms.answer.is_valid()
    return Sending(
        facts=forms.facts(has_rows=has_rows),
        key=keeping.key,
        form=keeping.form,
        typed=form_drafts.plain(request.POST.lists()),
        subject=keeping.subject,
        is_submission=request.POST.get("act") == "submit",
        team=forms.newcomers(),
        answer=forms.answer.cleaned_data.get("answer", ""),
        seen=keeping.seen or None,
    )


def _missing_of(typed: form_drafts.Data) -> dict[str, list[str]]:
    """What a draft as it was typed lacks for a submission."""
    return ProjectForms(MultiValueDict({name: list(values) for name, values in typed.items()})).missing()


def _saved(request: HttpRequest, project: Project, sending: Sending) -> HttpResponse:
    if sending.is_submission:
        messages.success(request, _("Submitted. An admin or a director decides; you will find the answer here."))
    elif project.state == ProjectState.DRAFT:
        messages.success(request, _("The draft is kept. You can go on with it at any time."))
    else:
        messages.success(request, _("The changes are kept."))
    return redirect("project", project.pk)


def _sent_twice(request: HttpRequest, person: Person, project_id: int) -> HttpResponse:
    """The second sending of a form that has just submitted its project leads to it; any other is refused."""
    detail = project_detail(person, project_id)
    keeping, forms = kept.sent(request, _about(detail)), ProjectForms(request.POST, detail)
    sending = _sending(request, keeping, forms)
    project = services.sent_before(person, sending)
    if project is not None:
        return _saved(request, project, sending)
    raise services.not_editable(detail.project, {})


def _sent_already(forms: ProjectForms, keeping: Keeping, refusal: AlreadySent) -> Keeping:
    """What was typed since gets a key of its own, so that sending it now is a choice."""
    address = reverse("project", args=[refusal.data["project"]])
    text = _("This form was sent before, with another text, and is the project at %(address)s. Nothing was saved now.")
    forms.add_error(text % {"address": address} + " " + _("Sending it again makes a change or a project of its own."))
    return replace(keeping, key=uuid4(), version=0)


def _overtaken(refusal: ContentChanged) -> str:
    fields = ", ".join(word(field) for field in refusal.data["changed"])
    text = _("Somebody else changed this project while you were writing: %(fields)s. Nothing of yours is saved yet.")
    return text % {"fields": fields} + " " + _("Saving again puts your text in place of theirs.")


@dataclass(frozen=True, slots=True)
class Shown:
    """The form as a page shows it. ``missing``: sentences by field; ``draft``: what it was restored from."""

    forms: ProjectForms
    keeping: Keeping
    missing: Mapping[str, Any]
    detail: ProjectDetail | None = None
    draft: FormDraft | None = None


def _page(request: HttpRequest, shown: Shown, code: int = 200) -> HttpResponse:
    forms, detail = shown.forms, shown.detail
    forms.mark_needed()
    is_draft = detail is None or detail.project.state == ProjectState.DRAFT
    context: dict[str, Any] = {
        "detail": detail,
        "project": detail.project if detail else None,
        "forms": forms,
        "form": forms.form,
        "keeping": shown.keeping,
        "draft": shown.draft,
        "overtaken": _changed_since(shown),
        "is_draft": is_draft,
        "may_rows": detail is None or "edit" in detail.can,
        "question": _question(detail) if detail else None,
        "progress": progress(shown.missing) if is_draft else None,
        "faults": forms.fault_count(),
    }
    return render(request, "projects/form.html", context, status=code)


def _changed_since(shown: Shown) -> list[str]:
    """What of the project is another than when the restored draft was begun."""
    if shown.draft is None or shown.detail is None or shown.draft.seen in ("", shown.detail.content):
        return []
    return [word(field) for field in changed_fields(shown.draft.seen, shown.detail.content)]
