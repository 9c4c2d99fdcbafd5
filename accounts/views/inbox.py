"""The inbox: what one was told, and how one wants to hear."""

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views import View
from django.views.decorators.http import require_GET, require_POST

from accounts.models import MailChoice, Notification
from accounts.notifications import reading
from accounts.notifications.topics import groups
from accounts.notifications.unread import unread_count
from accounts.notifications.wording import wording
from accounts.policies import require_signed_in
from accounts.services import notifications as services
from accounts.views.language import back
from kernel import clock
from kernel.calendar import local_day
from kernel.errors import NotFound
from kernel.formats import full_day
from kernel.ids import NO_ROW, id_in

PAGE_SIZE = 50


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """One's own notifications: unread first, by day; the filter is the address."""
    person = require_signed_in(request.user)
    known = {group.name: group for group in groups()}
    group = request.GET.get("group", "") if request.GET.get("group", "") in known else ""
    only_unread = request.GET.get("show") == "unread"
    rows = reading.narrowed(reading.inbox(person), group=group, only_unread=only_unread)
    page = Paginator(reading.unread_first(rows), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "days": _days(list(page)),
        "groups": list(known.values()),
        "group": group,
        "only_unread": only_unread,
        "is_filtered": bool(group or only_unread),
        "unread_here": unread_count(person),
    }
    return render(request, "accounts/inbox.html", context)


@require_GET
def open_one(request: HttpRequest, notification_id: str) -> HttpResponse:
    """Mark it as read and go on to what it is about."""
    person = require_signed_in(request.user)
    row = reading.inbox(person).filter(pk=notification_id).first()
    if row is None:
        raise NotFound
    services.notifications_read(actor=person, ids=[row.pk])
    return redirect(row.url or reverse("accounts:inbox"))


@require_POST
def mark(request: HttpRequest) -> HttpResponse:
    """Mark the chosen ones as read or unread, or all as read, and go back to the list."""
    person = require_signed_in(request.user)
    act = request.POST.get("act", "")
    ids = [id_in(text) or NO_ROW for text in request.POST.getlist("id")]
    if act == "unread":
        count = services.notifications_unread(actor=person, ids=ids)
        words = ngettext("%(count)s is unread again.", "%(count)s are unread again.", count)
    elif act in ("read", "all"):
        chosen = None if act == "all" else ids
        count = services.notifications_read(actor=person, ids=chosen, group=request.POST.get("group", "")[:40])
        words = ngettext("%(count)s marked as read.", "%(count)s marked as read.", count)
    else:
        raise NotFound
    messages.success(request, words % {"count": count})
    return redirect(back(request) if request.POST.get("next") else "accounts:inbox")


class Preferences(View):
    """By group: a mail at once, the daily digest, or no mail."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "accounts/inbox_preferences.html", self._context(request))

    def post(self, request: HttpRequest) -> HttpResponse:
        chosen = {group.name: request.POST[group.name] for group in groups() if group.name in request.POST}
        services.notification_preferences_choose(actor=require_signed_in(request.user), chosen=chosen)
        messages.success(request, _("Saved. It holds for what comes from now on."))
        return redirect("accounts:inbox-preferences")

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        person = require_signed_in(request.user)
        return {"choices": reading.preferences(person), "mails": MailChoice.choices, "address": person.email}


def _days(rows: list[Notification]) -> list[dict[str, Any]]:
    """The rows of a page under one heading for each day, the unread ones apart."""
    today = local_day(clock.now())
    days = []
    for (is_unread, day), items in groupby(rows, key=lambda row: (row.read_at is None, local_day(row.created_at))):
        age = (today - day).days
        label = _("Today") if age == 0 else _("Yesterday") if age == 1 else full_day(day)
        lines = [{"row": row, "said": wording(row), "group": _label(row)} for row in items]
        days.append({"label": label, "is_unread": is_unread, "lines": lines})
    return days


def _label(row: Notification) -> str:
    known = {group.name: group.label for group in groups()}
    return str(known.get(row.group, row.group))
