"""What the kernel writes with every call and every act, and nobody asks for later: kept for a while, then deleted.

History of states and the audit log are not among it: they stay.
"""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from kernel.models import FormDraft, IdempotencyKey, OutboxEvent

KEYS_KEPT = timedelta(days=7)
"""For so long the same call with the same Idempotency-Key gives its first answer."""
NEWS_KEPT = timedelta(days=30)
DRAFTS_KEPT = timedelta(days=90)
"""For so long after its last change a form that was not sent can be gone on with."""
BATCH = 5000


def forget_old(now: datetime) -> int:
    """Delete stored answers, news that every consumer has taken, and forms never sent, when they are too old.

    Returns how many rows. At most ``BATCH`` of each at once, oldest first; the next run goes on.
    """
    return sum(_delete_oldest(rows) for rows in (_old_keys(now), _told_news(now), _old_drafts(now)))


def _old_keys(now: datetime) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(at__lt=now - KEYS_KEPT)


def _told_news(now: datetime) -> QuerySet[OutboxEvent]:
    """What is still pending for somebody is kept, however old it is."""
    pending = OutboxEvent.objects.filter(deliveries__done_at__isnull=True, deliveries__isnull=False)
    return OutboxEvent.objects.filter(at__lt=now - NEWS_KEPT).exclude(pk__in=pending.values("pk"))


def _old_drafts(now: datetime) -> QuerySet[FormDraft]:
    return FormDraft.objects.filter(saved_at__lt=now - DRAFTS_KEPT)


def _delete_oldest(rows: QuerySet[IdempotencyKey] | QuerySet[OutboxEvent] | QuerySet[FormDraft]) -> int:
    oldest = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    rows.model._default_manager.filter(pk__in=oldest).delete()
    return len(oldest)
