"""The pages and buttons of saved views. Each act is one call of a service; then the table shows the view."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.policies import require_signed_in
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from kernel.toasts import undoable
from portal.models import SavedView
from portal.pages.views import selectors, services
from portal.pages.views.address import NO_VIEW
from portal.pages.views.forms import ViewForm
from portal.pages.views.policies import require_change, visible_to
from portal.pages.views.services import ViewChanges, ViewSpec

PAGE_SIZE = 100


@require_GET
def views(request: HttpRequest) -> HttpResponse:
    """All views that the person sees: to order, rename, share, copy and delete."""
    person = require_signed_in(request.user)
    page = Paginator(selectors.rows_of(person), PAGE_SIZE).get_page(request.GET.get("page"))
    rows = selectors.as_seen(person, list(page.object_list))
    last = max((index for index, row in enumerate(rows) if row.is_mine), default=-1)
    return render(request, "portal/views/list.html", {"page": page, "rows": rows, "last_mine": last})


@require_http_methods(["GET", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Save the address of the table, which stands in this one, under a name."""
    person = require_signed_in(request.user)
    form = ViewForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            spec = ViewSpec(query=request.GET.urlencode(), **form.cleaned_data)
            view = services.view_create(actor=person, spec=spec)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The view “%(name)s” is saved.") % {"name": view.name})
            return _to_table(view.pk)
    words = {
        "title": _("Save this view"),
        "text": _("It keeps filters, words, columns and order, not the rows: those are always today's."),
        "label": _("Save view"),
        "action": f"{reverse('projects:view-new')}?{request.GET.urlencode()}",
    }
    return _ask(request, form, words)


@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, view_id: int, name: str) -> HttpResponse:
    """One act on one view. Only what asks first is shown; the rest is a button."""
    require_signed_in(request.user)
    if name in _ASKING:
        return _ASKING[name](request, view_id)
    if request.method == "GET":
        return HttpResponseNotAllowed(["POST"])
    return _BUTTONS[name](request, view_id)


def _edit(request: HttpRequest, view_id: int) -> HttpResponse:
    person = require_signed_in(request.user)
    row = selectors.one(person, view_id)
    view = require_change(person, visible_to(person).filter(pk=view_id).first())
    if row is None:
        raise NotFound
    initial = {"name": row.name, "is_shared": row.is_shared, "is_default": row.is_default}
    form = ViewForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        changes: ViewChanges = {field: data[field] for field in form.changed_data}  # type: ignore[assignment]
        try:
            services.view_change(actor=person, view_id=view_id, changes=changes)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The view “%(name)s” is saved.") % {"name": data["name"]})
            return _to_table(view_id)
    words = {
        "title": _("View “%(name)s”") % {"name": view.name},
        "text": "" if row.is_mine else _("It is %(owner)s's; a change is seen by everybody.") % {"owner": row.owner},
        "label": _("Save"),
        "action": _address(view_id, "edit"),
    }
    return _ask(request, form, words)


def _delete(request: HttpRequest, view_id: int) -> HttpResponse:
    person = require_signed_in(request.user)
    view = require_change(person, visible_to(person).filter(pk=view_id).first())
    if request.method == "POST":
        services.view_delete(actor=person, view_id=view_id)
        text = _("The view “%(name)s” is deleted.") % {"name": view.name}
        undoable(request, text, url=_address(view_id, "restore"))
        return redirect(f"{reverse('projects:list')}?view={NO_VIEW}")
    shared = _("It is shared: nobody sees it any more. ") if view.is_shared else ""
    words = {
        "title": _("Delete the view “%(name)s”?") % {"name": view.name},
        "text": shared + _("No project is touched. For an hour this can be undone."),
        "label": _("Delete"),
        "danger": True,
        "action": _address(view_id, "delete"),
    }
    return _ask(request, None, words)


def _restore(request: HttpRequest, view_id: int) -> HttpResponse:
    view = services.view_restore(actor=require_signed_in(request.user), view_id=view_id)
    messages.success(request, _("The view “%(name)s” is back.") % {"name": view.name})
    return _to_table(view.pk)


def _copy(request: HttpRequest, view_id: int) -> HttpResponse:
    view = services.view_copy(actor=require_signed_in(request.user), view_id=view_id)
    messages.success(request, _("“%(name)s” is a view of yours now.") % {"name": view.name})
    return _to_table(view.pk)


def _update(request: HttpRequest, view_id: int) -> HttpResponse:
    """Keep the address that the table has now."""
    view = _changed(request, view_id, {"query": request.POST.get("query", "")})
    messages.success(request, _("The view “%(name)s” is updated.") % {"name": view.name})
    return _to_table(view.pk)


def _default(request: HttpRequest, view_id: int) -> HttpResponse:
    is_default = request.POST.get("on") == "yes"
    view = _changed(request, view_id, {"is_default": is_default})
    opens, plain = _("The table opens with “%(name)s” for you."), _("The table opens with all projects for you.")
    messages.success(request, opens % {"name": view.name} if is_default else plain)
    return _to_table(view.pk)


def _moved(by: int) -> Callable[[HttpRequest, int], HttpResponse]:
    def move(request: HttpRequest, view_id: int) -> HttpResponse:
        services.view_move(actor=require_signed_in(request.user), view_id=view_id, by=by)
        return redirect("projects:views")

    return move


def _changed(request: HttpRequest, view_id: int, changes: ViewChanges) -> SavedView:
    return services.view_change(actor=require_signed_in(request.user), view_id=view_id, changes=changes)


def _ask(request: HttpRequest, form: ViewForm | None, words: dict[str, Any]) -> HttpResponse:
    context = {**words, "fields": form or [], "cancel_url": reverse("projects:list")}
    return ask(request, context)


def _to_table(view_id: int) -> HttpResponse:
    return redirect(f"{reverse('projects:list')}?view={view_id}")


def _address(view_id: int, name: str) -> str:
    return reverse("projects:view-act", args=[view_id, name])


_ASKING: dict[str, Callable[[HttpRequest, int], HttpResponse]] = {"edit": _edit, "delete": _delete}
_BUTTONS: dict[str, Callable[[HttpRequest, int], HttpResponse]] = {
    "restore": _restore,
    "copy": _copy,
    "update": _update,
    "default": _default,
    "earlier": _moved(-1),
    "later": _moved(1),
}
ACTS = "|".join([*_ASKING, *_BUTTONS])
