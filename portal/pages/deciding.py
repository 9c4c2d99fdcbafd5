"""From a registration to the decision on it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from approvals.services import open_approval_id
from kernel.errors import NotFound
from projects.content import REGISTRATION
from projects.policies import visible_to
from projects.states import ProjectState


@require_GET
def decide(request: HttpRequest, project_id: int) -> HttpResponse:
    """``/projects/<id>/decide``: the decision page of the open approval; without one, the project."""
    project = visible_to(require_signed_in(request.user)).filter(pk=project_id).first()
    if project is None:
        raise NotFound
    found = open_approval_id(REGISTRATION, project_id)
    if found is not None:
        return redirect("approval", found)
    text = _("There is nothing to decide: the project is %(state)s.")
    messages.info(request, text % {"state": ProjectState(project.state).label})
    return redirect("project", project_id)
