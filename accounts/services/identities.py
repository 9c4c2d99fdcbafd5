"""First sign-in by the organisation's identity provider (OIDC)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.utils.translation import gettext as _

from accounts.errors import SignInRefused
from accounts.models import Person
from accounts.services.people import person_create
from kernel import audit
from kernel.unit import unit_of_work


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says this is. ``uid`` (the claim ``sub``) never changes; the rest may."""

    provider: str
    uid: str
    username: str
    display_name: str = ""
    email: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)


def identity_admit(*, identity: Identity) -> SocialAccount:
    """Tie an identity that signs in for the first time to its person, for ever.

    That is the person of this user name, if an admin created them without a password and no other identity has
    been tied to them: whoever has a local password could otherwise be taken over from the provider by a name.
    Else a new person without any role, if the setting ``OIDC_CREATES_PEOPLE`` is on. Raises ``SignInRefused``.
    """
    with unit_of_work():
        person = Person.objects.filter(username__iexact=identity.username).first() if identity.username else None
        if person is None:
            person = _newcomer(identity)
        elif _is_tied_otherwise(person):
            raise SignInRefused(
                _("The user name “%(name)s” belongs to an account with another way of signing in. Ask an admin.")
                % {"name": identity.username}
            )
        if not person.is_active:
            raise SignInRefused(_("This account is deactivated. Ask an admin."))
        account = SocialAccount.objects.create(
            user=person, provider=identity.provider, uid=identity.uid, extra_data=dict(identity.claims)
        )
        after = {"provider": identity.provider, "uid": identity.uid}
        audit.record("person.identity_tied", actor=None, subject=person, after=after)
    return account


def _is_tied_otherwise(person: Person) -> bool:
    return person.is_service or person.has_usable_password() or SocialAccount.objects.filter(user_id=person.pk).exists()


def _newcomer(identity: Identity) -> Person:
    if not settings.OIDC_CREATES_PEOPLE or not identity.username:
        raise SignInRefused(_("There is no account for you here yet. Ask an admin to create one."))
    return person_create(
        actor=None,
        username=identity.username,
        display_name=identity.display_name or identity.username,
        email=identity.email,
    )
