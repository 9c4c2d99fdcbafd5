"""The one resolver of recipients: whoever tells somebody something asks here who can be told.

Deactivated people and service accounts are dropped, when news is written and again when it is sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from accounts.models import MailChoice, NotificationPreference, Person, Role
from accounts.notifications.topics import Topic


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody who can be told. ``email`` is empty where none is known: then only the inbox tells."""

    pk: int
    name: str
    email: str
    language: str


def reachable(people: Iterable[int]) -> dict[int, Recipient]:
    """Who of these can be told, by id: one statement however many."""
    rows = Person.objects.filter(pk__in=set(people), is_active=True, is_service=False).order_by("pk")
    return {
        pk: Recipient(pk, name, email.strip(), language)
        for pk, name, email, language in rows.values_list("pk", "display_name", "email", "language")
    }


def holders(*roles: Role) -> list[int]:
    """Whoever holds one of these roles and can be told."""
    live = Person.objects.filter(role_grants__role__in=roles, role_grants__revoked_at__isnull=True)
    return list(live.filter(is_active=True, is_service=False).order_by("pk").distinct().values_list("pk", flat=True))


def choices(people: Iterable[int]) -> dict[tuple[int, str], MailChoice]:
    """What these people have chosen, by person and group; who is missing has it as usual. One statement."""
    rows = NotificationPreference.objects.filter(person__in=set(people))
    return {(person, group): MailChoice(mail) for person, group, mail in rows.values_list("person", "group", "mail")}


def is_at_once(topic: Topic, choice: MailChoice) -> bool | None:
    """Whether this news is mailed at once or in the digest; None is not at all, which never holds for what blocks."""
    if choice is MailChoice.AT_ONCE:
        return True
    if choice is MailChoice.NONE:
        return False if topic.is_blocking else None
    return topic.is_blocking and choice is MailChoice.USUAL
