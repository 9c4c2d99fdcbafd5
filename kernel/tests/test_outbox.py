"""News travels upward at least once, to each consumer alone."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.db import connection

from kernel import clock, outbox
from kernel.models import OutboxDelivery, OutboxEvent
from kernel.tests.doors import Door
from kernel.unit import unit_of_work

Elsewhere = Callable[..., Future[Any]]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WAIT = 20


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the consumers of the topic ``door.opened`` were told; no other consumer is registered meanwhile."""
    monkeypatch.setattr(outbox, "_consumers", {})
    told: list[tuple[str, str]] = []
    for name in ("lamp", "dog"):

        def listen(event: OutboxEvent, name: str = name) -> None:
            told.append((name, event.subject_id))

        outbox.subscribe("door.opened", name)(listen)
    return told


def emit(door: Door) -> OutboxEvent:
    return outbox.emit("door.opened", subject=door, data={"wide": True})


def test_each_consumer_hears_once(door_tables: None, heard: list[tuple[str, str]]) -> None:
    door = Door.objects.create(name="front")
    event = emit(door)
    assert heard == [], "nothing is told before the act has committed"
    assert outbox.deliver_due() == 2
    assert sorted(heard) == [("dog", str(door.pk)), ("lamp", str(door.pk))]
    assert outbox.deliver_due() == 0
    assert (event.subject_type, event.data) == ("kernel_tests.door", {"wide": True})


def test_news_of_a_refused_act_is_never_told(door_tables: None, heard: list[tuple[str, str]]) -> None:
    with pytest.raises(RuntimeError), unit_of_work():
        emit(Door.objects.create(name="front"))
        raise RuntimeError
    assert outbox.deliver_due() == 0
    assert heard == []


def test_a_failing_consumer_is_alone_and_tried_again(door_tables: None, heard: list[tuple[str, str]]) -> None:
    broken = [True]

    @outbox.subscribe("door.opened", "cat")
    def cat(event: OutboxEvent) -> None:
        Door.objects.create(name="left behind?")
        if broken[0]:
            raise ValueError("asleep")

    with clock.frozen(NOON):
        emit(Door.objects.create(name="front"))
        assert outbox.deliver_due() == 2
        late = OutboxDelivery.objects.get(consumer="cat")
        assert (late.done_at, late.tries, late.error) == (None, 1, "ValueError: asleep")
        assert late.due_at == NOON + timedelta(seconds=2)
        assert Door.objects.count() == 1, "what the failed handler had written is undone"
        assert outbox.deliver_due() == 0, "not before its time"
    broken[0] = False
    with clock.frozen(NOON + timedelta(seconds=2)):
        assert outbox.deliver_due() == 1
    late.refresh_from_db()
    assert late.done_at == NOON + timedelta(seconds=2)
    assert len(heard) == 2, "the others were not told twice"


def test_the_pause_grows_to_a_bound(door_tables: None, heard: list[tuple[str, str]]) -> None:
    @outbox.subscribe("door.opened", "cat")
    def cat(event: OutboxEvent) -> None:
        raise ValueError("asleep")

    at = NOON
    with clock.frozen(at):
        emit(Door.objects.create(name="front"))
    pauses = []
    for _ in range(10):
        with clock.frozen(at):
            outbox.deliver_due()
        due = OutboxDelivery.objects.get(consumer="cat").due_at
        pauses.append(int((due - at).total_seconds()))
        at = due
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_an_event_without_its_consumer_waits(door_tables: None, heard: list[tuple[str, str]]) -> None:
    """A version of the code without the consumer must not swallow the event."""
    emit(Door.objects.create(name="front"))
    del outbox._consumers["door.opened"]["dog"]
    assert outbox.deliver_due() == 1
    assert "no consumer dog" in OutboxDelivery.objects.get(done_at=None).error


def test_nobody_listens_is_fine(door_tables: None, heard: list[tuple[str, str]]) -> None:
    outbox.emit("door.painted", subject=Door.objects.create(name="front"))
    assert not OutboxDelivery.objects.exists()


def test_two_workers_never_tell_the_same_at_once(
    committed_door_tables: None, elsewhere: Elsewhere, heard: list[tuple[str, str]]
) -> None:
    inside, leave = Event(), Event()

    @outbox.subscribe("door.opened", "slow")
    def slow(event: OutboxEvent) -> None:
        heard.append(("slow", event.subject_id))
        inside.set()
        assert leave.wait(WAIT)

    del outbox._consumers["door.opened"]["lamp"], outbox._consumers["door.opened"]["dog"]
    event = OutboxEvent.objects.create(topic="door.opened", subject_type="x", subject_id="1", at=clock.now())
    OutboxDelivery.objects.create(event=event, consumer="slow", due_at=clock.now())
    first = elsewhere(outbox.deliver_due)
    assert inside.wait(WAIT)
    assert outbox.deliver_due() == 0, "the row is skipped, not waited for"
    leave.set()
    assert first.result(WAIT) == 1
    assert outbox.deliver_due() == 0
    assert heard == [("slow", "1")]


def test_a_worker_that_dies_leaves_the_delivery_for_the_next(
    committed_door_tables: None, elsewhere: Elsewhere, heard: list[tuple[str, str]]
) -> None:
    del outbox._consumers["door.opened"]["lamp"]
    event = OutboxEvent.objects.create(topic="door.opened", subject_type="x", subject_id="1", at=clock.now())
    OutboxDelivery.objects.create(event=event, consumer="dog", due_at=clock.now())

    @outbox.subscribe("door.opened", "dog")
    def dog(event: OutboxEvent) -> None:
        heard.append(("dog", event.subject_id))
        if len(heard) == 1:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pid = cursor.fetchone()[0]
            elsewhere(_end_connection, pid).result(WAIT)

    with pytest.raises(Exception, match=r"terminating|closed"):
        outbox.deliver_due()
    connection.close()
    assert outbox.deliver_due() == 1
    assert heard == [("dog", "1"), ("dog", "1")], "at least once"


def _end_connection(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
