"""What is read about notifications: one's own inbox and preferences, and the ledger for admins and auditors."""

from dataclasses import dataclass

from django.db.models import BooleanField, Case, Count, QuerySet, Value, When

from accounts.models import (
    DeliveryOutcome,
    MailChoice,
    Notification,
    NotificationDelivery,
    Role,
)
from accounts.notifications import recipients
from accounts.notifications.topics import Group, groups
from accounts.policies import require_role, require_signed_in
from kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Choice:
    """A group and how this person hears of it."""

    group: Group
    mail: MailChoice


def inbox(person: object) -> QuerySet[Notification]:
    """One's own, never another person's. What was forgotten (its topic is empty) is not there any more."""
    return Notification.objects.filter(person=require_signed_in(person)).exclude(topic="")


def unread_first(rows: QuerySet[Notification]) -> QuerySet[Notification]:
    """The unread ones at the head; among these and the others, the newest first."""
    is_unread = Case(When(read_at__isnull=True, then=Value(True)), default=Value(False), output_field=BooleanField())
    return rows.annotate(is_unread=is_unread).order_by("-is_unread", "-created_at", "-pk")


def narrowed(rows: QuerySet[Notification], *, group: str = "", only_unread: bool = False) -> QuerySet[Notification]:
    """Of one group, or what is not read yet."""
    if group:
        rows = rows.filter(group=group)
    return rows.filter(read_at__isnull=True) if only_unread else rows


def preferences(person: object) -> list[Choice]:
    """Every group with this person's choice; one statement."""
    someone = require_signed_in(person)
    chosen = recipients.choices([someone.pk])
    return [Choice(group, chosen.get((someone.pk, group.name), MailChoice.USUAL)) for group in groups()]


def deliveries(person: object, *, outcome: str = "", channel: str = "") -> QuerySet[NotificationDelivery]:
    """Lines of the ledger, newest first. Raises ``Forbidden`` for others than admins and auditors."""
    require_role(person, Role.ADMIN, Role.AUDITOR)
    rows = NotificationDelivery.objects.select_related("person", "notification").order_by("-pk")
    if outcome:
        rows = rows.filter(outcome=outcome)
    return rows.filter(channel=channel) if channel else rows


def delivery(person: object, delivery_id: int) -> NotificationDelivery:
    """One line of the ledger; raises ``NotFound``."""
    row = deliveries(person).filter(pk=delivery_id).first()
    if row is None:
        raise NotFound
    return row


def failed_count(person: object) -> int:
    """How many were given up."""
    rows = deliveries(person, outcome=DeliveryOutcome.FAILED).order_by()
    return int(rows.aggregate(count=Count("pk"))["count"])
