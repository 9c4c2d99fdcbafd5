"""What the kernel writes with every call and every act, and nobody asks for later: kept for a while, then deleted.

History of states and the audit log are not among it: they stay.
"""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from kernel.models import IdempotencyKey, OutboxEvent

KEYS_KEPT = timedelta(days=7)
"""For so long the same call with the same Idempotency-Key gives its first answer."""
NEWS_KEPT = timedelta(days=30)
BATCH = 5000


def forget_old(now: datetime) -> int:
    """Delete stored answers, and news that every consumer has taken, when they are too old. Returns how many rows.

    At most ``BATCH`` of each at once, oldest first; the next run goes on.
    """
    return _delete_oldest(_old_keys(now)) + _delete_oldest(_told_news(now))


def _old_keys(now: datetime) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(at__lt=now - KEYS_KEPT)


def _told_news(now: datetime) -> QuerySet[OutboxEvent]:
    """What is still pending for somebody is kept, however old it is."""
    pending = OutboxEvent.objects.filter(deliveries__done_at__isnull=True, deliveries__isnull=False)
    return OutboxEvent.objects.filter(at__lt=now - NEWS_KEPT).exclude(pk__in=pending.values("pk"))


def _delete_oldest(rows: QuerySet[IdempotencyKey] | QuerySet[OutboxEvent]) -> int:
    oldest = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    rows.model._default_manager.filter(pk__in=oldest).delete()
    return len(oldest)
