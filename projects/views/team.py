"""The team of a project, and its history."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.policies import require_signed_in
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from projects import selectors, services
from projects.errors import AlreadyMember
from projects.forms import MemberForm
from projects.models import ProjectRole
from projects.selectors import ProjectDetail
from projects.views.frame import framed, opened, title

PAGE_SIZE = 200


class Members(View):
    """Who is on the team; whoever manages it adds people here."""

    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        return self._page(request, opened(request, project_id), MemberForm())

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        person = require_signed_in(request.user)
        detail = opened(request, project_id, "manage_members")
        form = MemberForm(request.POST)
        if form.is_valid():
            try:
                row = services.member_add(actor=person, project_id=project_id, **form.cleaned_data)
            except Invalid as refusal:
                add_errors(form, refusal)
            except AlreadyMember as refusal:
                form.add_error("person", refusal.message)
            else:
                messages.success(request, _("%(person)s is on the team.") % {"person": row.person})
                return redirect("projects:members", project_id)
        return self._page(request, detail, form)

    def _page(self, request: HttpRequest, detail: ProjectDetail, form: MemberForm) -> HttpResponse:
        context = {**framed(request, detail, "members"), "form": form, "roles": ProjectRole.choices}
        return render(request, "projects/members.html", context, status=422 if form.errors else 200)


@require_POST
def change_role(request: HttpRequest, project_id: int, person_id: int) -> HttpResponse:
    row = services.member_change_role(
        actor=require_signed_in(request.user),
        project_id=project_id,
        person_id=person_id,
        role=request.POST.get("role", ""),
    )
    said = _("%(person)s is %(role)s now.") % {"person": row.person, "role": ProjectRole(row.role).label}
    messages.success(request, said)
    return redirect("projects:members", project_id)


@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, project_id: int, person_id: int) -> HttpResponse:
    """Asks once, naming who loses what; then removes."""
    actor = require_signed_in(request.user)
    is_leaving = actor.pk == person_id
    detail = opened(request, project_id, "read" if is_leaving else "manage_members")
    member = next((row for row in detail.members if row.person_id == person_id), None)
    if member is None:
        raise NotFound
    if request.method == "POST":
        services.member_remove(actor=actor, project_id=project_id, person_id=person_id)
        messages.success(request, _("%(person)s is not on the team any more.") % {"person": member.person})
        return redirect("projects:list" if is_leaving else "projects:members", *([] if is_leaving else [project_id]))
    words = {"person": member.person, "project": title(detail.project)}
    context = {
        "title": _("Leave %(project)s?") % words if is_leaving else _("Take %(person)s off %(project)s?") % words,
        "text": _("From now on %(person)s can neither see the project nor run jobs in it.") % words,
        "label": _("Leave") if is_leaving else _("Take off the team"),
        "danger": True,
        "action": reverse("projects:member-remove", args=[project_id, person_id]),
        "cancel_url": reverse("projects:members", args=[project_id]),
    }
    return ask(request, context)


@require_GET
def history(request: HttpRequest, project_id: int) -> HttpResponse:
    """Everything that happened, newest first."""
    detail = opened(request, project_id)
    items = selectors.history(detail.project)[::-1]
    page = Paginator(items, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "projects/history.html", {**framed(request, detail, "history"), "page": page})
