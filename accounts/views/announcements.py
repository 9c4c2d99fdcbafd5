"""Announcements and maintenance windows: admins write them, auditors read them, everybody sees the banners."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import announcements, selectors, services
from accounts.forms import AnnouncementForm
from accounts.models import Announcement, Role
from accounts.policies import has_role, require_role
from accounts.views.language import back, remember
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Conflict, Invalid, NotFound
from kernel.forms import add_errors

PAGE_SIZE = 100


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """All of them: planned, now and past, newest first."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    page = Paginator(selectors.announcements(request.user), PAGE_SIZE).get_page(request.GET.get("page"))
    now, may_change = clock.now(), has_role(request.user, Role.ADMIN)
    rows = [{"row": row, "state": selectors.announcement_state(row, now)} for row in page]
    return render(request, "accounts/announcements.html", {"page": page, "rows": rows, "may_change": may_change})


class Publish(View):
    """A new announcement or maintenance window."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require_role(request.user, Role.ADMIN)
        return _form_page(request, AnnouncementForm(initial={"kind": request.GET.get("kind", "announcement")}))

    def post(self, request: HttpRequest) -> HttpResponse:
        actor = require_role(request.user, Role.ADMIN)
        form = AnnouncementForm(request.POST)
        if form.is_valid():
            try:
                row = services.announcement_publish(actor=actor, spec=form.spec())
            except Invalid as refusal:
                add_errors(form, refusal)
            else:
                messages.success(request, _("“%(title)s” is published.") % {"title": row.title})
                return redirect("accounts:announcements")
        return _form_page(request, form)


class Edit(View):
    """One announcement: as a form while it is not over, else as it was."""

    def get(self, request: HttpRequest, announcement_id: str) -> HttpResponse:
        require_role(request.user, Role.ADMIN, Role.AUDITOR)
        row = _row(request, announcement_id)
        form = AnnouncementForm.of(row) if self._is_open(request, row) else None
        return _form_page(request, form, row)

    def post(self, request: HttpRequest, announcement_id: str) -> HttpResponse:
        actor = require_role(request.user, Role.ADMIN)
        row = _row(request, announcement_id)
        form = AnnouncementForm(request.POST)
        if form.is_valid():
            try:
                services.announcement_edit(
                    actor=actor, announcement_id=row.pk, spec=form.spec(), seen=form.cleaned_data["revision"]
                )
            except Invalid as refusal:
                add_errors(form, refusal)
            except Conflict as refusal:
                # What was typed stays on the page; only leaving it loses it.
                form.add_error(None, refusal.message)
                return _form_page(request, form, row, status=refusal.status)
            else:
                messages.success(request, _("“%(title)s” was changed.") % {"title": row.title})
                return redirect("accounts:announcements")
        return _form_page(request, form, row)

    def _is_open(self, request: HttpRequest, row: Announcement) -> bool:
        is_over = selectors.announcement_state(row, clock.now()) in (selectors.OVER, selectors.WITHDRAWN)
        return has_role(request.user, Role.ADMIN) and not is_over


@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, announcement_id: str) -> HttpResponse:
    """Asks once, then takes the banner away."""
    actor = require_role(request.user, Role.ADMIN)
    row = _row(request, announcement_id)
    if request.method == "POST":
        services.announcement_withdraw(actor=actor, announcement_id=row.pk)
        messages.success(request, _("“%(title)s” is withdrawn.") % {"title": row.title})
        return redirect("accounts:announcements")
    context = {
        "action": request.path,
        "danger": True,
        "title": _("Withdraw “%(title)s”?") % {"title": row.title},
        "text": _("Its banner goes from every page at once. It stays in the list as withdrawn."),
        "label": _("Withdraw"),
        "cancel_url": reverse("accounts:announcements"),
    }
    return ask(request, context)


@require_POST
def dismiss(request: HttpRequest) -> HttpResponse:
    """Remember in this browser that the banner was closed, for everybody, signed in or not."""
    key = request.POST.get("key", "")[:40]
    response = redirect(back(request))
    if key.replace(".", "").isalnum() and key.isascii():
        remember(request, response, announcements.COOKIE, announcements.dismiss(request.COOKIES, key))
    return response


def _row(request: HttpRequest, announcement_id: str) -> Announcement:
    row = selectors.announcements(request.user).filter(pk=announcement_id).first()
    if row is None:
        raise NotFound
    return row


def _form_page(
    request: HttpRequest, form: AnnouncementForm | None, row: Announcement | None = None, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "row": row}
    if row is not None:
        context["state"] = selectors.announcement_state(row, clock.now())
    if form is not None and form.errors and status == 200:
        status = 422
    return render(request, "accounts/announcement.html", context, status=status)
