"""Notifications for tests of other rooms: one that somebody was told, and a delivery of it that failed."""

from django.utils import timezone

from accounts.models import Channel, DeliveryOutcome, Notification, NotificationDelivery, Person
from accounts.notifications import notify, own


def told(person: Person, role: str = "Director", actor: str = "Kim") -> Notification:
    """That this person holds a role now."""
    notify(
        topic=own.GRANTED, to=[person.pk], subject=person, words={"role_word": role, "actor": actor}, url="/projects"
    )
    return Notification.objects.filter(person=person).latest("pk")


def failed(row: Notification, error: str = "450 come again") -> NotificationDelivery:
    """A mail of it that was given up."""
    return NotificationDelivery.objects.create(
        notification=row,
        person_id=row.person_id,
        channel=Channel.MAIL,
        outcome=DeliveryOutcome.FAILED,
        due_at=row.created_at,
        done_at=timezone.now(),
        tries=3,
        error=error,
    )
