"""What this room itself tells: that somebody holds a role now, or no longer."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from accounts.models import Person, Role
from accounts.notifications.telling import notify
from accounts.notifications.topics import Topic, Urgency, register

GRANTED, REVOKED = "people.role_granted", "people.role_revoked"


def register_topics() -> None:
    """In ``AppConfig.ready``."""
    register(
        Topic(
            GRANTED,
            _("You are %(role_word)s now"),
            _("%(actor)s gave you this role. It holds in the whole organisation."),
            Urgency.NEWS,
            "people",
        )
    )
    register(
        Topic(
            REVOKED,
            _("You are no longer %(role_word)s"),
            _("%(actor)s took this role from you. Your memberships of projects stay."),
            Urgency.NEWS,
            "people",
        )
    )


def tell_of_role(topic: str, *, person: Person, role: Role | str, actor: Person) -> None:
    """In the transaction of the act."""
    with override(None):
        words = {"role_word": str(Role(role).label), "actor": str(actor)}
    notify(topic=topic, to=[person.pk], subject=person, words=words)
