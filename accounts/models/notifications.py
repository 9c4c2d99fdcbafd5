"""Notifications: what one person is told in the inbox, the ledger of what goes out of the house, and preferences."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models.people import Person


class Notification(models.Model):
    """One thing that one person is told. Topic and words are kept; the sentence is made when it is read.

    A person is told the same ``once`` at most once ever, whatever runs twice: the database sees to it.
    """

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="notifications")
    topic = models.CharField(max_length=80)
    group = models.CharField(max_length=40)
    is_blocking = models.BooleanField()
    """Somebody waits for what the reader does."""
    words = models.JSONField(default=dict)
    url = models.CharField(max_length=500, blank=True)
    """A path of this portal."""
    subject_type = models.CharField(max_length=100, blank=True)
    subject_id = models.CharField(max_length=64, blank=True)
    once = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "once"], condition=~Q(once=""), name="notification_once")
        ]
        indexes = [
            models.Index(fields=["person", "-created_at", "-id"], name="notification_newest"),
            models.Index(fields=["person"], condition=Q(read_at__isnull=True), name="notification_unread"),
            models.Index(fields=["read_at"], condition=Q(read_at__isnull=False), name="notification_read"),
            models.Index(
                fields=["subject_type", "subject_id"], condition=Q(read_at__isnull=True), name="notification_open"
            ),
        ]


class Channel(models.TextChoices):
    """How news leaves the portal. The inbox is no channel: it always has everything."""

    MAIL = "mail", _("Mail at once")
    DIGEST = "digest", _("Daily digest")
    CHAT = "chat", _("Chat")


class DeliveryOutcome(models.TextChoices):
    DUE = "due", _("Due")
    SENT = "sent", _("Sent")
    DROPPED = "dropped", _("Dropped")
    """Not sent on purpose: nobody to send it to any more, or read meanwhile."""
    FAILED = "failed", _("Failed")
    """Given up after the last try."""


class NotificationDelivery(models.Model):
    """A line of the ledger: one notification by one channel, due or done.

    Who sends claims the row until ``claimed_until`` by the database's clock; who dies meanwhile loses the claim.
    ``tries`` is raised by the claim and is its fencing number: who was overtaken writes no failure any more.
    """

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="deliveries")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    """Whom it goes to; nobody in particular for the chat."""
    channel = models.CharField(max_length=10, choices=Channel.choices)
    once = models.CharField(max_length=200, blank=True)
    """Of the chat, which tells all at once: the same is told there once."""
    outcome = models.CharField(max_length=10, choices=DeliveryOutcome.choices, default=DeliveryOutcome.DUE)
    due_at = models.DateTimeField()
    claimed_until = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notification", "channel"], name="notificationdelivery_channel_once"),
            models.UniqueConstraint(
                fields=["once"], condition=Q(channel=Channel.CHAT) & ~Q(once=""), name="notificationdelivery_chat_once"
            ),
            models.CheckConstraint(
                condition=Q(outcome=DeliveryOutcome.DUE, done_at__isnull=True)
                | (~Q(outcome=DeliveryOutcome.DUE) & Q(done_at__isnull=False)),
                name="notificationdelivery_done",
            ),
            models.CheckConstraint(
                condition=Q(channel=Channel.CHAT, person__isnull=True)
                | (~Q(channel=Channel.CHAT) & Q(person__isnull=False)),
                name="notificationdelivery_person",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"], condition=Q(outcome=DeliveryOutcome.DUE), name="notificationdelivery_due"
            ),
            models.Index(fields=["person", "channel", "done_at"], name="notificationdelivery_sent"),
        ]


class MailChoice(models.TextChoices):
    """What a person wants by mail of one group. What blocks somebody is in the digest at least."""

    USUAL = "usual", _("At once what waits for me, the rest in the daily digest")
    AT_ONCE = "at_once", _("Everything at once")
    DIGEST = "digest", _("Everything in the daily digest")
    NONE = "none", _("No mail")


class NotificationPreference(models.Model):
    """A person's own choice for one group; without a row it is as usual."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="notification_preferences")
    group = models.CharField(max_length=40)
    mail = models.CharField(max_length=10, choices=MailChoice.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "group"], name="notificationpreference_once"),
        ]
