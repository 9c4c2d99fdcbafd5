"""Signing in and out, and one's own password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views import View

from accounts.forms import PasswordForm
from accounts.policies import require_signed_in
from accounts.services import password_change
from accounts.sign_in import TEMPLATE, single_sign_on
from kernel.errors import Forbidden, Invalid
from kernel.forms import add_errors


class SignIn(LoginView):
    """Local accounts by password; the organisation's accounts by the button, where it is configured."""

    http_method_names = ["get", "head", "post", "options"]
    template_name = TEMPLATE
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, **single_sign_on())


class SignOut(LogoutView):
    """By POST only, so that no foreign page signs anybody out."""

    next_page = "account_login"


class Password(View):
    """A local account's own password. Whoever signs in elsewhere has none here."""

    def get(self, request: HttpRequest) -> HttpResponse:
        _has_password(request)
        return self._page(request, PasswordForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        person = _has_password(request)
        form = PasswordForm(request.POST)
        if not form.is_valid():
            return self._page(request, form)
        try:
            changed = password_change(actor=person, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
            return self._page(request, form)
        update_session_auth_hash(request, changed)
        messages.success(request, _("Your password was changed. You are signed out everywhere else."))
        return redirect("accounts:tokens")

    def _page(self, request: HttpRequest, form: PasswordForm) -> HttpResponse:
        return render(request, "accounts/password.html", {"form": form}, status=422 if form.errors else 200)


def _has_password(request: HttpRequest) -> Any:
    person = require_signed_in(request.user)
    if not person.has_usable_password():
        raise Forbidden(_("You sign in by single sign-on; your password is kept there."))
    return person
