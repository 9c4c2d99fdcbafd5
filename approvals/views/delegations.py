"""Who stands in for whom: for a time and everything, or for one approval."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_http_methods

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals import services
from approvals.forms import DelegationForm, HandOnForm
from approvals.models import Approval, Delegation
from approvals.policies import visible_to
from approvals.selectors import delegations_of
from approvals.standing_in import past_delegations_of
from approvals.telling import address
from approvals.views.frame import framed
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from kernel.ids import id_in

USUAL = timedelta(days=14)


class Delegations(View):
    """One's own stand-ins, whom one stands in for, and a new one. ``?approval=``: hand that one on."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        approval = _approval(request)
        form = HandOnForm(asker=person) if approval else DelegationForm(asker=person, initial=_usual())
        return _page(request, person, form, approval)

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        approval = _approval(request)
        form = (HandOnForm if approval else DelegationForm)(request.POST, asker=person)
        if not form.is_valid():
            return _page(request, person, form, approval)
        try:
            _create(person, form, approval)
        except Invalid as refusal:
            add_errors(form, _renamed(refusal))
            return _page(request, person, form, approval)
        who = form.cleaned_data["stand_in"]
        if approval is not None:
            messages.success(request, _("%(person)s is asked to decide it; you still may.") % {"person": who})
            return redirect(address(approval))
        messages.success(request, _("%(person)s stands in for you, and was told.") % {"person": who})
        return redirect("approvals:delegations")


@require_http_methods(["GET", "POST"])
def end(request: HttpRequest, delegation_id: str) -> HttpResponse:
    """Asks once, then ends it now."""
    person = require_signed_in(request.user)
    row = _own(person, int(delegation_id))
    back = reverse("approvals:delegations")
    if request.method == "POST":
        services.delegation_revoke(actor=person, delegation_id=row.pk)
        messages.success(request, _("%(person)s no longer stands in.") % {"person": row.stand_in})
        return redirect(back)
    context = {
        "action": request.path,
        "danger": True,
        "title": _("End now: %(stand_in)s for %(principal)s?") % {"stand_in": row.stand_in, "principal": row.principal},
        "text": _("From now on %(person)s decides nothing in this right. What was decided stays.")
        % {"person": row.stand_in},
        "label": _("End now"),
        "cancel_url": back,
    }
    return ask(request, context)


def _create(person: Person, form: HandOnForm, approval: Approval | None) -> Delegation:
    data = form.cleaned_data
    if approval is not None:
        return services.approval_hand_on(
            actor=person, approval_id=approval.pk, to_id=data["stand_in"].pk, comment=data["reason"]
        )
    return services.delegation_create(
        actor=person,
        stand_in_id=data["stand_in"].pk,
        starts_at=data["starts_at"],
        ends_at=data["ends_at"],
        reason=data["reason"],
    )


def _renamed(refusal: Invalid) -> Invalid:
    """The services' names of fields as this form's."""
    names = {"to": "stand_in", "comment": "reason"}
    return Invalid({names.get(field, field): texts for field, texts in refusal.errors.items()})


def _usual() -> dict[str, datetime]:
    return {"ends_at": clock.now() + USUAL}


def _approval(request: HttpRequest) -> Approval | None:
    asked = request.GET.get("approval")
    if asked is None:
        return None
    found = visible_to(request.user).filter(pk=id_in(asked) or 0).first()
    if found is None:
        raise NotFound
    return found


def _own(person: Person, delegation_id: int) -> Delegation:
    found = delegations_of(person, clock.now()).filter(pk=delegation_id).first()
    if found is None:
        raise NotFound
    return found


def _page(request: HttpRequest, person: Person, form: HandOnForm, approval: Approval | None) -> HttpResponse:
    now = clock.now()
    rows = list(delegations_of(person, now))
    past = list(past_delegations_of(person, now))
    context: dict[str, Any] = {
        "form": form,
        "approval": approval,
        "given": [row for row in rows if row.principal_id == person.pk],
        "got": [row for row in rows if row.stand_in_id == person.pk],
        "past": past,
        "now": now,
        "address": address(approval) if approval else "",
    }
    status = 422 if form.errors else 200
    return render(request, "approvals/delegations.html", framed(person, "delegations", context), status=status)
