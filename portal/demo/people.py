"""Who works in the demo organisation."""

from dataclasses import dataclass

from django.contrib.auth.hashers import check_password, make_password

from accounts.models import Person, Role
from accounts.services import person_create, role_grant


@dataclass(frozen=True, slots=True)
class Account:
    """``can_sign_in``: has the demo password; the others are only met on screens."""

    username: str
    display_name: str
    role: Role | None = None
    can_sign_in: bool = True


ACCOUNTS = (
    Account("admin", "Alex Admin", Role.ADMIN),
    Account("director", "Dana Director", Role.DIRECTOR),
    Account("auditor", "Aude Auditor", Role.AUDITOR),
    Account("lead", "Lena Lead"),
    Account("researcher", "Rui Researcher"),
    Account("stranger", "Sam Stranger"),
    Account("chen", "陈伟", can_sign_in=False),
    Account("okafor", "Amara Okafor", can_sign_in=False),
)


def seed_people(password: str) -> dict[str, Person]:
    """The accounts by user name; what is missing is made. An empty password leaves passwords as they are."""
    people = {account.username: _person(account) for account in ACCOUNTS}
    for account in ACCOUNTS:
        person = people[account.username]
        if account.role is not None and not person.role_grants.filter(role=account.role).exists():
            granter = None if account.role == Role.ADMIN else people["admin"]
            role_grant(actor=granter, person_id=person.pk, role=account.role)
    if password:
        _set_password([people[account.username] for account in ACCOUNTS if account.can_sign_in], password)
    return people


def _person(account: Account) -> Person:
    known = Person.objects.filter(username=account.username).first()
    return known or person_create(actor=None, username=account.username, display_name=account.display_name)


def _set_password(people: list[Person], password: str) -> None:
    """One hash for all: hashing is slow on purpose. Not judged by strength: whoever starts the instance owns it."""
    hashes = {person.password for person in people}
    if len(hashes) == 1 and check_password(password, people[0].password):
        return
    Person.objects.filter(pk__in=[person.pk for person in people]).update(password=make_password(password))
