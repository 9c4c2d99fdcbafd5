"""History of states, audit log and its chain, outbox, idempotency keys, drafts of forms."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Subject(models.Model):
    """What a row is about and who acted, as plain values: no foreign key points upward."""

    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=64)
    actor_type = models.CharField(max_length=100)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=200)

    class Meta:
        abstract = True


class StateChange(Subject):
    """One step of one state machine. Written only by ``kernel.states.transition``."""

    machine = models.CharField(max_length=40)
    event = models.CharField(max_length=40)
    from_state = models.CharField(max_length=40)
    to_state = models.CharField(max_length=40)
    at = models.DateTimeField()
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject_type", "subject_id", "id"], name="statechange_subject")]


class AuditEntry(Subject):
    """Who did what, when, from where; before and after. Insert-only: the database refuses anything else."""

    at = models.DateTimeField()
    action = models.CharField(max_length=80)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    via = models.CharField(max_length=20)
    address = models.CharField(max_length=64, blank=True)
    token = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["subject_type", "subject_id", "id"], name="auditentry_subject"),
            models.Index(fields=["actor_type", "actor_id", "id"], name="auditentry_actor"),
            models.Index(fields=["action", "id"], name="auditentry_action"),
        ]


class AuditSeal(models.Model):
    """One link of the audit chain, added by a single writer after the act has committed. Insert-only.

    ``hash`` = SHA-256 over the previous hash and the entry's canonical form; ``position`` counts from 1.
    """

    position = models.BigIntegerField(primary_key=True)
    entry = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, related_name="seal")
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)
    sealed_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(position__gte=1), name="auditseal_position")]


class OutboxEvent(models.Model):
    """News for rooms above, committed with the act that made it."""

    topic = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=64)
    data = models.JSONField(default=dict)
    at = models.DateTimeField()


class OutboxDelivery(models.Model):
    """One event for one consumer: pending until its handler has committed."""

    event = models.ForeignKey(OutboxEvent, on_delete=models.CASCADE, related_name="deliveries")
    consumer = models.CharField(max_length=80)
    done_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    error = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "consumer"], name="outboxdelivery_once")]
        indexes = [models.Index(F("due_at"), F("id"), name="outboxdelivery_due", condition=Q(done_at__isnull=True))]


class IdempotencyKey(models.Model):
    """The stored answer to a writing call, kept so that the same call again gives it instead of a second act."""

    actor_type = models.CharField(max_length=100)
    actor_id = models.CharField(max_length=64)
    key = models.CharField(max_length=200)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor_type", "actor_id", "key"], name="idempotencykey_once")]


class FormDraft(models.Model):
    """What a person typed into a form and has not sent yet, as it stands in the fields, valid or not.

    It is nobody's but its owner's, and no record: it goes when the form is sent, discarded or long forgotten.
    """

    key = models.UUIDField(unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    form = models.CharField(max_length=60)
    subject = models.CharField(max_length=100, blank=True)
    """What the form is about, such as ``project:12``; empty for something new."""
    data = models.JSONField(default=dict)
    """Values by name of the field, each a list of texts."""
    seen = models.CharField(max_length=200, blank=True)
    """Mark of the content that the form began from, to tell later whether it has changed."""
    version = models.PositiveIntegerField(default=1)
    writer = models.CharField(max_length=40, blank=True)
    """The open page that saved last: its own earlier save is no conflict for it."""
    created_at = models.DateTimeField()
    saved_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "form", "subject"], name="formdraft_owner"),
            models.Index(fields=["saved_at"], name="formdraft_saved"),
        ]
