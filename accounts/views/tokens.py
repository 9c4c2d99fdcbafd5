"""One's own access tokens."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_http_methods

from accounts import selectors, services
from accounts.forms import TokenForm
from accounts.models import Person, ServiceToken
from accounts.policies import require_signed_in
from accounts.services import TokenTerms
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors


class Tokens(View):
    """The list, and the form for a new one. The secret is in the answer to the form and nowhere else."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, require_signed_in(request.user), TokenForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        form = TokenForm(request.POST)
        if not form.is_valid():
            return self._page(request, person, form)
        data = form.cleaned_data
        terms = TokenTerms(data["name"], [data["scopes"]], data["days"])
        try:
            issued = services.token_issue(actor=person, owner=person, terms=terms)
        except Invalid as refusal:
            add_errors(form, refusal)
            return self._page(request, person, form)
        return self._page(request, person, TokenForm(), issued)

    def _page(
        self, request: HttpRequest, person: Person, form: TokenForm, issued: services.Issued | None = None
    ) -> HttpResponse:
        context = {
            "tokens": selectors.own_tokens(person),
            "form": form,
            "issued": issued,
            "now": clock.now(),
            "has_password": person.has_usable_password(),
        }
        response = render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)
        response["Cache-Control"] = "no-store"
        return response


@require_http_methods(["GET", "POST"])
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """Asks once, then ends the token."""
    person = require_signed_in(request.user)
    back = reverse("accounts:tokens")
    if request.method == "POST":
        token = services.token_revoke(actor=person, token_id=int(token_id))
        messages.success(request, _("The token “%(name)s” is revoked.") % {"name": token.name})
        return redirect(back if token.owner_id == person.pk else reverse("accounts:person", args=[token.owner_id]))
    token = _token(person, int(token_id))
    context = {
        "action": request.path,
        "danger": True,
        "title": _("Revoke the token “%(name)s”?") % {"name": token.name},
        "text": _("Programs that use it are refused from now on."),
        "label": _("Revoke"),
        "cancel_url": back,
    }
    return ask(request, context)


def _token(person: Person, token_id: int) -> ServiceToken:
    token = selectors.revocable_tokens(person).filter(pk=token_id).first()
    if token is None:
        raise NotFound
    return token
