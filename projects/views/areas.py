"""Acts on research areas: add, rename or move, delete. The page that lists them is the portal's."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Role
from accounts.policies import require_role
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from projects import services
from projects.errors import AreaInUse
from projects.forms import AreaEditForm, AreaForm
from projects.models import ResearchArea


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Add an area, within another if so asked."""
    actor = require_role(request.user, Role.ADMIN)
    form = AreaForm(request.POST if request.method == "POST" else None, initial={"parent": request.GET.get("within")})
    if form.is_valid():
        try:
            area = services.area_create(actor=actor, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The research area %(name)s was added.") % {"name": area.title})
            return redirect("projects:areas")
    return _asked(request, _("Add a research area"), _("Add"), fields=form)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, area_id: int) -> HttpResponse:
    """Rename an area, or move it with all that is in it."""
    actor = require_role(request.user, Role.ADMIN)
    area = _area(area_id)
    now = {"title": area.title, "parent": area.parent.name if area.parent else ""}
    form = AreaEditForm(request.POST if request.method == "POST" else None, initial=now)
    if form.is_valid():
        try:
            services.area_edit(actor=actor, area_id=area_id, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The research area %(name)s was changed.") % {"name": area.title})
            return redirect("projects:areas")
    return _asked(request, _("Change “%(name)s”") % {"name": area.title}, _("Save"), fields=form)


@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, area_id: int) -> HttpResponse:
    """Asks once; what stands in the area is named and keeps it."""
    actor = require_role(request.user, Role.ADMIN)
    area = _area(area_id)
    if request.method == "POST":
        try:
            services.area_delete(actor=actor, area_id=area_id)
        except AreaInUse as refusal:
            text = _("“%(name)s” was not deleted. %(why)s")
            messages.error(request, text % {"name": area.title, "why": refusal.message})
        else:
            messages.success(request, _("The research area %(name)s was deleted.") % {"name": area.title})
        return redirect("projects:areas")
    text = _("Only an area in which nothing stands can go. The audit log keeps that it was there.")
    title = _("Delete “%(name)s”?") % {"name": area.title}
    return _asked(request, title, _("Delete"), text=text, danger=True)


def _area(area_id: int) -> ResearchArea:
    area = ResearchArea.objects.select_related("parent").filter(pk=area_id).first()
    if area is None:
        raise NotFound
    return area


def _asked(request: HttpRequest, title: str, label: str, **more: Any) -> HttpResponse:
    cancel = reverse("projects:areas")
    return ask(request, {"title": title, "label": label, "action": request.path, "cancel_url": cancel, **more})
