"""``Authorization: Bearer sluice_…``: the token of a person or of a service account."""

from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.languages import speak_to
from accounts.models import Person, ServiceToken
from accounts.tokens import PREFIX, digest_of
from kernel import clock
from kernel.origin import acts_with_token

SCHEME = "Bearer"
USE_IS_NOTED_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """``request.user`` is the owner, ``request.auth`` the token. Unusable tokens are 401 with the reason."""

    def authenticate(self, request: Request) -> tuple[Person, ServiceToken] | None:
        scheme, _space, secret = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        secret = secret.strip()
        if scheme.lower() != SCHEME.lower() or not secret.startswith(PREFIX):
            raise AuthenticationFailed(_("This is no token of this portal."))
        token = ServiceToken.objects.select_related("owner").filter(digest=digest_of(secret)).first()
        if token is None:
            raise AuthenticationFailed(_("This token is not known."))
        _refuse_unusable(token)
        _note_use(token)
        speak_to(token.owner)
        acts_with_token(token.name)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """Makes the answer to a call without a token 401, not 403."""
        return SCHEME


def _refuse_unusable(token: ServiceToken) -> None:
    if token.revoked_at is not None:
        raise AuthenticationFailed(_("This token was revoked."))
    if token.expires_at <= clock.now():
        raise AuthenticationFailed(_("This token has expired."))
    if not token.owner.is_active:
        raise AuthenticationFailed(_("The owner of this token is deactivated."))


def _note_use(token: ServiceToken) -> None:
    """Remember the use, at most once a minute: a busy program must not write a row per call."""
    now = clock.now()
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_IS_NOTED_EVERY)
    if token.last_used_at is None or token.last_used_at <= now - USE_IS_NOTED_EVERY:
        ServiceToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
