"""Choosing a value, looking at what it does, doing it, and taking it back."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel.errors import Invalid
from kernel.ids import id_in
from kernel.toasts import undoable
from portal.models import BulkChange
from portal.pages.bulk.preview import choices, preview, value_of
from portal.pages.bulk.services import bulk_change, bulk_undo
from portal.pages.table.address import MOST_IDS, read
from portal.pages.table.heads import address_of, pairs_of
from projects.errors import ManyRefused
from projects.words import word


@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, field: str) -> HttpResponse:
    """The projects stand in the address as ``ids``; ``value`` there is looked at, sent it is done."""
    person = require_signed_in(request.user)
    if request.method == "GET":
        return _page(request, person, field, request.GET.get("value", ""))
    chosen = request.POST.get("value", "")
    if chosen not in dict(choices(field)):
        return _page(request, person, field, "", {"value": _("Choose one of these.")})
    try:
        done = bulk_change(
            actor=person,
            field=field,
            value=value_of(field, chosen),
            seen=_seen(request.POST.getlist("seen")),
            reason=request.POST.get("reason", ""),
        )
    except Invalid as refusal:
        return _page(request, person, field, chosen, {key: " ".join(texts) for key, texts in refusal.errors.items()})
    except ManyRefused as refusal:
        return _page(request, person, field, chosen, refused=refusal)
    _say(request, done, dict(choices(field))[chosen])
    return redirect(f"{reverse('projects:list')}?{address_of(request.GET, {'ids', 'value', 'page'})}")


@require_POST
def undo(request: HttpRequest, change_id: int) -> HttpResponse:
    """Give each project back what it had, if nobody has touched any of them since."""
    try:
        done = bulk_undo(actor=require_signed_in(request.user), change_id=change_id)
    except ManyRefused as refusal:
        context = {"title": _("Not undone: projects were changed since"), "refused": _refusals(refusal)}
        return render(request, "portal/bulk/not_undone.html", context, status=409)
    count = len(done.rows)
    text = ngettext("%(count)s project is as it was.", "%(count)s projects are as they were.", count)
    messages.success(request, text % {"count": count})
    return redirect("projects:list")


def _page(
    request: HttpRequest,
    person: Person,
    field: str,
    chosen: str,
    errors: dict[str, str] | None = None,
    refused: ManyRefused | None = None,
) -> HttpResponse:
    """The page as things are now; after a refusal with what was refused."""
    ids, offered = sorted(read(request.GET).ids), choices(field)
    is_known = chosen in dict(offered)
    context: dict[str, Any] = {
        "title": _("Change the stage") if field == "stage" else _("Change the research area"),
        "label": word(field),
        "choices": offered,
        "chosen": chosen if is_known else "",
        "count": len(ids),
        "most": MOST_IDS,
        "kept": pairs_of(request.GET, {"value"}),
        "back": address_of(request.GET, {"ids", "value"}),
        "preview": preview(person, field, chosen, ids) if is_known and ids else None,
        "errors": errors or {},
        "reason": request.POST.get("reason", ""),
        "refused": _refusals(refused) if refused else [],
    }
    status = 409 if refused else 422 if errors else 200
    return render(request, "portal/bulk/change.html", context, status=status)


def _seen(sent: list[str]) -> dict[int, str]:
    """``12:abc…`` for each project. Raises ``Invalid`` for anything else, and for too many."""
    found = {}
    for line in sent[: MOST_IDS + 1]:
        number, _colon, content = line.partition(":")
        pk = id_in(number)
        if pk is None or not content:
            raise Invalid({"projects": _("“%(line)s” names no project.") % {"line": line[:60]}})
        found[pk] = content
    return found


def _refusals(refusal: ManyRefused) -> list[tuple[str, str, str]]:
    """Name, reason and which fields are others than were looked at."""
    return [
        (row["name"] or _("Draft without a name"), row["detail"], ", ".join(word(name) for name in row["changed"]))
        for row in refusal.data["projects"]
    ]


def _say(request: HttpRequest, done: BulkChange, value: str) -> None:
    count = len(done.rows)
    text = ngettext("%(count)s project: %(what)s is %(value)s.", "%(count)s projects: %(what)s is %(value)s.", count)
    said = text % {"count": count, "what": word(done.field), "value": value}
    undoable(request, said, url=reverse("projects:bulk-undo", args=[done.pk]))
