"""Who stands in for whom. One decision is handed on from its own page."""

from datetime import timedelta
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
from approvals.forms import DelegationForm
from approvals.models import Delegation
from approvals.policies import decides_something
from approvals.selectors import delegations_of
from approvals.standing_in import past_delegations_of
from approvals.views.frame import framed
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors

USUAL = timedelta(days=14)


class Delegations(View):
    """One's own stand-ins, whom one stands in for, and a new one."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        return _page(request, person, DelegationForm(asker=person, initial={"ends_at": clock.now() + USUAL}))

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        form = DelegationForm(request.POST, asker=person)
        if not form.is_valid():
            return _page(request, person, form)
        data = form.cleaned_data
        try:
            services.delegation_create(
                actor=person,
                stand_in_id=data["stand_in"].pk,
                starts_at=data["starts_at"],
                ends_at=data["ends_at"],
                reason=data["reason"],
            )
        except Invalid as refusal:
            add_errors(form, refusal)
            return _page(request, person, form)
        messages.success(request, _("%(person)s stands in for you, and was told.") % {"person": data["stand_in"]})
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


def _own(person: Person, delegation_id: int) -> Delegation:
    found = delegations_of(person, clock.now()).filter(pk=delegation_id).first()
    if found is None:
        raise NotFound
    return found


def _page(request: HttpRequest, person: Person, form: DelegationForm) -> HttpResponse:
    now = clock.now()
    rows = list(delegations_of(person, now))
    context: dict[str, Any] = {
        "form": form if decides_something(person) else None,
        "given": [row for row in rows if row.principal_id == person.pk],
        "got": [row for row in rows if row.stand_in_id == person.pk],
        "past": list(past_delegations_of(person, now)),
        "now": now,
    }
    status = 422 if form.is_bound else 200
    return render(request, "approvals/delegations.html", framed(person, "delegations", context), status=status)
