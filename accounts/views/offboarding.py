"""Off-boarding: a page that shows all that ends and asks what has to be asked, and the report of what was done."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods

from accounts import selectors, services
from accounts.errors import AlreadySo, OwnAccount
from accounts.models import Person, Role
from accounts.offboarding.form import FarewellForm
from accounts.offboarding.showing import preview_of, rooms_of
from accounts.offboarding.steps import successions_of
from accounts.policies import require_role
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound


class Offboard(View):
    """Shows, room by room, what ends, asks who takes over, and why; then it is done in one act."""

    def get(self, request: HttpRequest, person_id: str) -> HttpResponse:
        actor, person = _here(request, person_id)
        return self._page(request, person, self._form(actor, person))

    def post(self, request: HttpRequest, person_id: str) -> HttpResponse:
        actor, person = _here(request, person_id)
        form = self._form(actor, person, request.POST)
        if not form.is_valid():
            return self._page(request, person, form)
        try:
            report = services.person_offboard(actor=actor, person_id=person.pk, farewell=form.farewell())
        except Invalid as refusal:
            # The questions may be others by now: the page asks those of this moment.
            form = self._form(actor, person, request.POST)
            form.full_clean()
            form.take(refusal)
            return self._page(request, person, form)
        messages.success(request, _("%(person)s is deactivated.") % {"person": person})
        return redirect("accounts:offboarding", person.pk, report.pk)

    def _form(self, actor: Person, person: Person, data: Any = None) -> FarewellForm:
        return FarewellForm(data, successions=list(successions_of(person).values()), actor=actor)

    def _page(self, request: HttpRequest, person: Person, form: FarewellForm) -> HttpResponse:
        context = {"person": person, "form": form, "rooms": preview_of(person)}
        return render(request, "accounts/offboard.html", context, status=422 if form.errors else 200)


@require_GET
def report(request: HttpRequest, person_id: str, report_id: str) -> HttpResponse:
    """What ended, was handed over and stayed; it never changes."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    row = selectors.offboardings(request.user, int(person_id)).filter(pk=report_id).first()
    if row is None:
        raise NotFound
    context = {"report": row, "person": row.person, "rooms": rooms_of(row)}
    return render(request, "accounts/offboarding.html", context)


@require_http_methods(["GET", "POST"])
def reactivate(request: HttpRequest, person_id: str) -> HttpResponse:
    """Asks once, naming what does not come back; then lets them in again."""
    actor = require_role(request.user, Role.ADMIN)
    person = _person(request, person_id)
    if request.method == "POST":
        services.person_reactivate(actor=actor, person_id=person.pk)
        messages.success(request, _("%(person)s is active again.") % {"person": person})
        return redirect("accounts:person", person.pk)
    return ask(
        request,
        {
            "action": request.path,
            "title": _("Reactivate %(person)s?") % {"person": person},
            "text": _("%(person)s can sign in again, as somebody new. This does not come back:") % {"person": person},
            "affected": _does_not_come_back(person),
            "label": _("Reactivate"),
            "cancel_url": reverse("accounts:person", args=[person.pk]),
        },
    )


def _does_not_come_back(person: Person) -> list[str]:
    lines = [
        _("sessions and access tokens"),
        _("roles in the organisation: grant them again"),
        _("memberships of projects: a lead or an admin adds them again"),
        _("projects that were handed over: they keep their new lead"),
    ]
    resting = ", ".join(str(grant.get_role_display()) for grant in person.live_grants)  # type: ignore[attr-defined]
    if resting:
        lines.append(_("But held again at once, because it was never revoked: %(roles)s") % {"roles": resting})
    return lines


def _here(request: HttpRequest, person_id: str) -> tuple[Person, Person]:
    """Who acts and whom it is about. Raises what the act would raise whatever the form says."""
    actor = require_role(request.user, Role.ADMIN)
    person = _person(request, person_id)
    if person.pk == actor.pk:
        raise OwnAccount
    if not person.is_active:
        raise AlreadySo(_("%(person)s is deactivated already.") % {"person": person})
    return actor, person


def _person(request: HttpRequest, person_id: str) -> Person:
    person = selectors.with_roles(selectors.people(request.user)).filter(pk=person_id).first()
    if person is None:
        raise NotFound
    return person
