"""Registering a project and changing it: one form; saving keeps a draft, submitting asks for a decision."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views import View

from accounts.policies import require_signed_in
from kernel.errors import Invalid
from projects import policies, services
from projects.content import missing_for_submit
from projects.errors import ContentChanged
from projects.forms import ProjectForms
from projects.selectors import ProjectDetail, project_detail
from projects.states import ProjectState
from projects.views.frame import framed
from projects.words import word


class Create(View):
    """A new draft."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require_signed_in(request.user)
        return self._page(request, ProjectForms())

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        forms = ProjectForms(request.POST)
        if not forms.is_valid():
            return self._page(request, forms)
        try:
            project = services.project_create(actor=person, facts=forms.facts())
        except Invalid as refusal:
            forms.add_errors(refusal)
            return self._page(request, forms)
        return _saved(request, project.pk, _("The draft is kept. You can go on with it at any time."))

    def _page(self, request: HttpRequest, forms: ProjectForms) -> HttpResponse:
        forms.mark_needed()
        context = {"forms": forms, "form": forms.form, "is_draft": True, "may_rows": True}
        return render(request, "projects/form.html", context, status=422 if forms.has_errors() else 200)


class Edit(View):
    """A draft, or what may still change of an approved project."""

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        detail = self._detail(request, project_id)
        return self._page(request, detail, ProjectForms(detail=detail))

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person = require_signed_in(request.user)
        detail = self._detail(request, project_id)
        forms = ProjectForms(request.POST, detail)
        if not forms.is_valid():
            return self._page(request, detail, forms)
        changes = forms.facts(has_rows="edit" in detail.can)
        seen = request.POST.get("seen") or None
        try:
            services.project_edit(actor=person, project_id=project_id, changes=changes, seen=seen)
        except Invalid as refusal:
            forms.add_errors(refusal)
        except ContentChanged as refusal:
            forms.add_error(_overtaken(refusal))
        else:
            return _saved(request, project_id, _("The changes are kept."))
        return self._page(request, detail, forms)

    def _detail(self, request: HttpRequest, project_id: int) -> ProjectDetail:
        detail = project_detail(request.user, project_id)
        here = policies.standing(request.user, detail.project)
        if not here.may("reclassify"):
            policies.require(request.user, "edit", detail.project)
        if not {"edit", "reclassify"} & set(detail.can):
            raise services.not_editable(detail.project, {})
        return detail

    def _page(self, request: HttpRequest, detail: ProjectDetail, forms: ProjectForms) -> HttpResponse:
        is_draft = detail.project.state == ProjectState.DRAFT
        forms.mark_needed()
        missing = missing_for_submit(detail.project) if is_draft else {}
        context: dict[str, Any] = {
            **framed(request, detail),
            "forms": forms,
            "form": forms.form,
            "is_draft": is_draft,
            "may_rows": "edit" in detail.can,
            "missing": [(word(field), text) for field, text in missing.items()],
        }
        return render(request, "projects/form.html", context, status=422 if forms.has_errors() else 200)


def _saved(request: HttpRequest, project_id: int, said: str) -> HttpResponse:
    """After saving: the project's page; or, when submitting was asked for, that as well."""
    if request.POST.get("act") != "submit":
        messages.success(request, said)
        return redirect("project", project_id)
    try:
        services.project_submit(actor=require_signed_in(request.user), project_id=project_id)
    except Invalid:
        messages.warning(request, _("The draft is kept, but not submitted: see what is still missing."))
        return redirect("projects:edit", project_id)
    messages.success(request, _("Submitted. An admin or a director decides; you will find the answer here."))
    return redirect("project", project_id)


def _overtaken(refusal: ContentChanged) -> str:
    fields = ", ".join(word(field) for field in refusal.data["changed"])
    text = _("Somebody else changed this project while you were writing: %(fields)s. Nothing of yours is saved yet.")
    return text % {"fields": fields} + " " + _("Saving again puts your text in place of theirs.")
