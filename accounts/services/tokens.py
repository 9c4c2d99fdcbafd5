"""Issuing and revoking tokens for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from accounts.errors import AlreadySo
from accounts.models import Person, Role, Scope, ServiceToken
from accounts.policies import has_role, require_role, require_signed_in
from accounts.tokens import SHOWN_CHARACTERS, digest_of, new_secret
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.unit import lock, unit_of_work

DEFAULT_DAYS = 90
MAX_DAYS = 365
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class Issued:
    token: ServiceToken
    secret: str
    """Shown once, to whoever asked. It is stored nowhere."""


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """What a token is to be. It ends after ``days``, and not later than ``not_after`` if that is given."""

    name: str
    scopes: Sequence[str] = (Scope.READ,)
    days: int = DEFAULT_DAYS
    not_after: datetime | None = None


def token_issue(*, actor: Person | None, owner: Person, terms: TokenTerms) -> Issued:
    """A token for oneself, or by an admin for a service account. Raises ``Forbidden``, ``Invalid``, ``Conflict``.

    Nobody gets a token that acts for another person. Locks the owner: nobody gets one while being off-boarded.
    """
    with unit_of_work():
        owner = lock({Person: [owner.pk]})[Person][owner.pk]
        if actor is not None and require_signed_in(actor).pk != owner.pk:
            require_role(actor, Role.ADMIN)
            if not owner.is_service:
                raise Conflict(_("A token of a person is issued by that person only."))
        if not owner.is_active:
            raise Conflict(_("%(person)s is deactivated and cannot get a token.") % {"person": owner})
        _refuse_invalid(terms)
        now = clock.now()
        expires_at = now + timedelta(days=terms.days)
        secret = new_secret()
        token = ServiceToken.objects.create(
            name=terms.name.strip(),
            owner=owner,
            created_by=actor or owner,
            scopes=sorted(set(terms.scopes)),
            prefix=secret[:SHOWN_CHARACTERS],
            digest=digest_of(secret),
            created_at=now,
            expires_at=min(expires_at, terms.not_after) if terms.not_after else expires_at,
        )
        audit.record("token.issued", actor=actor, subject=token, after=_plain(token))
    return Issued(token, secret)


def token_revoke(*, actor: Person | None, token_id: int) -> ServiceToken:
    """End a token now. Its owner's act, or an admin's; to anybody else it does not exist."""
    with unit_of_work():
        token = ServiceToken.objects.select_related("owner").filter(pk=token_id).first()
        if token is None:
            raise NotFound
        if actor is not None and require_signed_in(actor).pk != token.owner_id and not has_role(actor, Role.ADMIN):
            raise NotFound
        now = clock.now()
        if not ServiceToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now):
            raise AlreadySo(_("This token is revoked already."))
        token.revoked_at = now
        audit.record("token.revoked", actor=actor, subject=token, before=_plain(token))
    return token


def _refuse_invalid(terms: TokenTerms) -> None:
    errors: dict[str, str] = {}
    name = terms.name.strip()
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        errors["name"] = _("A name has 1 to %(most)s printable characters.") % {"most": MAX_NAME}
    unknown = sorted(set(terms.scopes) - set(Scope.values))
    if unknown or not terms.scopes:
        allowed = ", ".join(Scope.values)
        given = ", ".join(unknown) or _("nothing")
        errors["scopes"] = _("%(given)s: choose from %(allowed)s.") % {"given": given, "allowed": allowed}
    if not 1 <= terms.days <= MAX_DAYS:
        errors["days"] = _("%(days)s: a token lives 1 to %(most)s days.") % {"days": terms.days, "most": MAX_DAYS}
    if errors:
        raise Invalid(errors)


def _plain(token: ServiceToken) -> dict[str, object]:
    return {
        "name": token.name,
        "owner": token.owner.username,
        "scopes": token.scopes,
        "prefix": token.prefix,
        "expires_at": token.expires_at,
    }
