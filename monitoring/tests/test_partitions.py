"""Day partitions: made before they are needed, dropped when nothing in them is kept."""

import threading
from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from kernel import advisory, clock
from kernel.advisory import AdvisoryLock
from kernel.errors import LockTimeout
from monitoring import partitions, tasks
from monitoring.models import GpuSample
from monitoring.services import samples_ingest
from monitoring.tests import factories
from monitoring.tests.factories import NOON

DAY = NOON.date()


@pytest.mark.django_db
def test_beat_makes_the_days_to_come() -> None:
    with clock.frozen(NOON):
        tasks.ensure_partitions()
        tasks.ensure_partitions()
    assert partitions.partition_days() == [DAY, DAY + timedelta(days=1), DAY + timedelta(days=2)]


@pytest.mark.django_db
def test_days_are_dropped_when_all_their_samples_are_too_old() -> None:
    node = factories.node(gpus=1)
    uuid = node.devices.get().uuid
    for at in (NOON, NOON + timedelta(days=1)):
        with clock.frozen(at):
            samples_ingest(node=node, batch=factories.batch([factories.columns(uuid, [1.0])], start=at))
    end_of_first_day = NOON.replace(hour=0) + timedelta(days=1)
    keep = timedelta(hours=settings.MONITORING_RAW_HOURS)
    with clock.frozen(end_of_first_day + keep - timedelta(seconds=1)):
        tasks.drop_partitions()
    assert GpuSample.objects.count() == 2
    with clock.frozen(end_of_first_day + keep):
        tasks.drop_partitions()
        tasks.drop_partitions()
    assert [row.at for row in GpuSample.objects.all()] == [NOON + timedelta(days=1)]
    assert partitions.partition_days() == [DAY + timedelta(days=1)]


def test_both_tasks_are_in_the_schedule() -> None:
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {tasks.ensure_partitions.name, tasks.drop_partitions.name} <= scheduled


@pytest.fixture
def committed(transactional_db: None) -> Iterator[None]:
    """Real commits; the partitioned table is not Django's, so what it got is dropped here."""
    yield
    partitions.partitions_drop(NOON + timedelta(days=400))


@pytest.mark.usefixtures("committed")
def test_two_makers_of_the_same_day_do_not_meet() -> None:
    made: list[list[date]] = []
    barrier = threading.Barrier(2)

    def make() -> None:
        try:
            barrier.wait(10)
            made.append(partitions.partitions_ensure([DAY, DAY + timedelta(days=1)]))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(made) == [[], [DAY, DAY + timedelta(days=1)]]


@pytest.mark.usefixtures("committed")
def test_a_reader_delays_the_dropping_and_is_not_hurt() -> None:
    partitions.partitions_ensure([DAY])
    is_reading, may_end = threading.Event(), threading.Event()

    def read() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute(f"SELECT count(*) FROM {partitions.PARENT}")
                is_reading.set()
                may_end.wait(30)
                cursor.execute("COMMIT")
        finally:
            is_reading.set()
            connections.close_all()

    reader = threading.Thread(target=read)
    reader.start()
    is_reading.wait(10)
    with pytest.raises(LockTimeout):
        partitions.partitions_drop(NOON + timedelta(days=30))
    may_end.set()
    reader.join(30)
    assert partitions.partitions_drop(NOON + timedelta(days=30)) == [DAY]


@pytest.mark.usefixtures("committed")
def test_a_day_is_made_while_the_scheduler_decides() -> None:
    made: list[list[date]] = []

    def make() -> None:
        try:
            made.append(partitions.partitions_ensure([DAY]))
        finally:
            connections.close_all()

    maker = threading.Thread(target=make)
    with transaction.atomic():
        advisory.take(AdvisoryLock.SCHEDULER)
        maker.start()
        maker.join(30)
    assert made == [[DAY]]
