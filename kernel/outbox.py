"""News that travels upward: committed with the act, delivered at least once to each consumer, each alone."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from django.db.models import Model

from kernel import clock
from kernel.models import OutboxDelivery, OutboxEvent
from kernel.subject import subject_fields

Handler = Callable[[OutboxEvent], None]
_consumers: dict[str, dict[str, Handler]] = {}
_log = structlog.get_logger(__name__)
RETRY_MAX_S = 300


def subscribe(topic: str, consumer: str) -> Callable[[Handler], Handler]:
    """Register a handler (in ``AppConfig.ready``). It must be idempotent: delivery is at least once."""

    def register(handler: Handler) -> Handler:
        _consumers.setdefault(topic, {})[consumer] = handler
        return handler

    return register


def emit(topic: str, *, subject: Model, data: Mapping[str, Any] | None = None) -> OutboxEvent:
    """Write the event and one pending delivery per consumer in the caller's transaction; deliver after commit."""
    now = clock.now()
    event = OutboxEvent.objects.create(topic=topic, data=dict(data or {}), at=now, **subject_fields(subject))
    consumers = _consumers.get(topic, {})
    OutboxDelivery.objects.bulk_create(
        OutboxDelivery(event=event, consumer=name, due_at=now) for name in sorted(consumers)
    )
    if consumers:
        transaction.on_commit(_wake, robust=True)
    return event


def deliver_due(limit: int = 100) -> int:
    """Hand up to ``limit`` due deliveries to their consumers, each alone; return how many succeeded."""
    done = 0
    for delivery_id in (
        OutboxDelivery.objects.filter(done_at__isnull=True, due_at__lte=clock.now())
        .order_by("due_at", "id")
        .values_list("id", flat=True)[:limit]
    ):
        done += _deliver(delivery_id)
    return done


def _deliver(delivery_id: int) -> bool:
    """One delivery under its own row lock; a failure is kept with its error and tried again with back-off."""
    with transaction.atomic():
        pending = OutboxDelivery.objects.select_for_update(skip_locked=True, of=("self",))
        delivery = pending.select_related("event").filter(id=delivery_id, done_at__isnull=True).first()
        if delivery is None:
            return False
        handler = _consumers.get(delivery.event.topic, {}).get(delivery.consumer)
        try:
            if handler is None:
                raise LookupError(f"no consumer {delivery.consumer} for {delivery.event.topic}")
            with transaction.atomic():
                handler(delivery.event)
        except Exception as error:  # noqa: BLE001 - the edge of a consumer: kept, logged and tried again
            _put_off(delivery, error)
            return False
        delivery.done_at = clock.now()
        delivery.save(update_fields=["done_at"])
    return True


def _put_off(delivery: OutboxDelivery, error: Exception) -> None:
    delivery.tries += 1
    delivery.error = f"{type(error).__name__}: {error}"[:2000]
    delivery.due_at = clock.now() + timedelta(seconds=min(RETRY_MAX_S, 2**delivery.tries))
    delivery.save(update_fields=["tries", "error", "due_at"])
    _log.error("outbox_delivery_failed", topic=delivery.event.topic, consumer=delivery.consumer, error=delivery.error)


def _wake() -> None:
    current_app.send_task("kernel.deliver_outbox", queue="dispatch")
