"""Answers of calls and delivered news are kept for a while; what is pending, as long as it is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from kernel import clock, idempotency, outbox, retention, tasks
from kernel.models import IdempotencyKey, OutboxDelivery, OutboxEvent
from kernel.tests.doors import Door

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.django_db
def test_a_stored_answer_is_kept_for_a_week() -> None:
    with clock.frozen(NOON):
        idempotency.claim(actor=None, key="k", fingerprint="f")
    assert retention.forget_old(NOON + retention.KEYS_KEPT) == 0
    assert retention.forget_old(NOON + retention.KEYS_KEPT + SECOND) == 1
    assert not IdempotencyKey.objects.exists()


def test_news_goes_with_its_deliveries_when_all_have_taken_it(
    door_tables: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_consumers", {})
    for name in ("lamp", "dog"):
        outbox.subscribe("door.opened", name)(lambda event: None)
    door = Door.objects.create(name="front")
    with clock.frozen(NOON):
        outbox.emit("door.unheard", subject=door)
        half, whole = outbox.emit("door.opened", subject=door), outbox.emit("door.opened", subject=door)
        whole.deliveries.update(done_at=NOON)
        half.deliveries.filter(consumer="dog").update(done_at=NOON)
    assert retention.forget_old(NOON + retention.NEWS_KEPT) == 0
    with clock.frozen(NOON + retention.NEWS_KEPT + SECOND):
        tasks.forget_old()
    assert list(OutboxEvent.objects.all()) == [half]
    assert OutboxDelivery.objects.count() == 2


def test_the_task_is_in_the_schedule() -> None:
    assert tasks.forget_old.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
