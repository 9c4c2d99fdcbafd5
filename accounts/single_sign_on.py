"""The two doors of allauth, closed except for signing in by the organisation's identity provider."""

from typing import Any, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.errors import SignInRefused
from accounts.services.identities import Identity, identity_admit
from accounts.sign_in import refusal_page
from kernel.errors import Invalid


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up: people are created by an admin, or by single sign-on where that is allowed."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Admits or refuses whom the provider has identified; nothing else of allauth's flows is reached."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.state.get("process", "login") != "login":
            _refuse(request, _("Only signing in is possible here."))
        if not sociallogin.is_existing:
            try:
                sociallogin.account = identity_admit(identity=_identity(sociallogin))
            except (SignInRefused, Invalid) as refusal:
                _refuse(request, refusal.message)
            sociallogin.user = sociallogin.account.user
        if not sociallogin.user.is_active:
            _refuse(request, _("This account is deactivated. Ask an admin."))

    def on_authentication_error(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> NoReturn:
        _refuse(request, _("The identity provider did not let you in, or could not be asked. Try again."))


def _identity(sociallogin: SocialLogin) -> Identity:
    """The claims that we use. A name that is missing is empty, and then nobody is found by it."""
    data = sociallogin.account.extra_data
    claims = data.get("userinfo") or data.get("id_token") or {}
    return Identity(
        provider=sociallogin.account.provider,
        uid=sociallogin.account.uid,
        username=str(claims.get("preferred_username") or ""),
        display_name=str(claims.get("name") or ""),
        email=str(claims.get("email") or ""),
        claims=data,
    )


def _refuse(request: HttpRequest, sentence: str) -> NoReturn:
    raise ImmediateHttpResponse(refusal_page(request, sentence, status=403))
