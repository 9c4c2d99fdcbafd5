"""What projects used, decayed: the integral exactly, the same before and after it is summed, less what was lost."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel import clock
from projects.models import Project
from scheduling import past_use, services
from scheduling.models import Attempt, DeviceAllocation, Interruption, PastUse
from scheduling.past_use import used_until
from scheduling.policy import Choices
from scheduling.snapshot import load_snapshot
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db

HALF_LIFE_S = 7 * 86_400
HOUR = timedelta(hours=1)


@pytest.fixture
def noon() -> Iterator[datetime]:
    at = clock.now()
    with clock.frozen(at):
        yield at


@contextmanager
def after(at: datetime, span: timedelta) -> Iterator[datetime]:
    with clock.frozen(at + span):
        yield at + span


def left(milli: int, start: datetime, end: datetime, at: datetime) -> float:
    """∫ milli · 2^−(at−s)/H ds over [start, end), as the definition says it."""
    rate = math.log(2) / HALF_LIFE_S
    return (
        milli * (math.exp(-rate * (at - end).total_seconds()) - math.exp(-rate * (at - start).total_seconds())) / rate
    )


def of(project: Project, at: datetime) -> float:
    return sum(amount for (pk, _model), amount in used_until(at, HALF_LIFE_S).projects.items() if pk == project.pk)


def test_use_is_the_integral_over_what_was_held(noon: datetime) -> None:
    fake = make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    ended, live = (make.running_job(project, [fake], milli_gpus=milli) for milli in (2000, 500))
    with after(noon, HOUR):
        [member] = make.members_of(ended)
        fake.end(member.pk)
        fake.sync()
    with after(noon, 3 * HOUR) as at:
        expected = left(2000, noon, noon + HOUR, at) + left(500, noon, at, at)
        assert of(project, at) == pytest.approx(expected, rel=1e-9)
        capacity = used_until(at, HALF_LIFE_S).capacity
        assert list(capacity.values()) == [pytest.approx(left(4000, noon, at, at), rel=1e-9)]
        assert live.state == "running"


def test_a_half_life_later_half_of_it_counts(noon: datetime) -> None:
    fake = make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    job = make.running_job(project, [fake], milli_gpus=2000)
    with after(noon, HOUR):
        fake.end(make.members_of(job)[0].pk)
        fake.sync()
    early, late = noon + HOUR, noon + HOUR + timedelta(seconds=HALF_LIFE_S)
    assert of(project, late) == pytest.approx(of(project, early) / 2, rel=1e-9)


def test_summing_what_is_over_changes_nothing(noon: datetime) -> None:
    fake = make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    for hours in (1, 2, 3):
        with after(noon, hours * HOUR):
            job = make.running_job(project, [fake], milli_gpus=1000 * hours)
        with after(noon, hours * HOUR + HOUR / 2):
            fake.end(make.members_of(job)[0].pk)
            fake.sync()
    before = {hours: of(project, noon + hours * HOUR) for hours in (4, 9, 30)}
    for hours in (2, 4, 9):
        past_use.fold(noon + hours * HOUR, HALF_LIFE_S)
    assert PastUse.objects.get().milli_gpu_seconds > 0
    after_sum = {hours: of(project, noon + hours * HOUR) for hours in (9, 30)}
    assert after_sum == {hours: pytest.approx(before[hours], rel=1e-9) for hours in (9, 30)}
    assert past_use.fold(noon + 9 * HOUR, HALF_LIFE_S) is False
    # Another half-life: everything is summed anew.
    assert past_use.fold(noon + 9 * HOUR, HALF_LIFE_S // 2) is True
    assert PastUse.objects.get().half_life_s == HALF_LIFE_S // 2


def test_what_was_lost_to_an_interruption_is_no_use(noon: datetime) -> None:
    fake = make.node(gpus=2)
    project = make.project(gpus=2, limit=2)
    job = make.running_job(project, [fake], milli_gpus=2000)
    with after(noon, HOUR):
        fake.end(make.members_of(job)[0].pk, "stopped", 143)
        make.attempt_of(job)
        Attempt.objects.filter(job=job).update(stop_reason="preempted", stop_requested_at=clock.now())
        fake.sync()
    lost = Interruption.objects.get()
    assert lost.lost_milli_gpu_seconds == 2000 * 3600
    for hours in (1, 5):
        assert of(project, noon + hours * HOUR) == pytest.approx(0, abs=1e-3)
    past_use.fold(noon + 5 * HOUR, HALF_LIFE_S)
    assert of(project, noon + 6 * HOUR) == pytest.approx(0, abs=1e-3)


def test_the_snapshot_says_the_part_of_the_capacity(noon: datetime) -> None:
    fake = make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    make.running_job(project, [fake], milli_gpus=1000)
    with after(noon, HOUR) as at:
        [party] = load_snapshot(at, Choices()).projects
        assert dict(party.entitlement.past_use) == {"h100": Fraction(1, 4)}


def test_reading_takes_as_many_statements_for_one_as_for_many(noon: datetime) -> None:
    fake = make.node(gpus=8)
    counts = []
    for _ in range(2):
        for _ in range(3):
            make.running_job(make.project(gpus=1, limit=8), [fake])
            make.job(make.project(gpus=0, limit=8))
        with CaptureQueriesContext(connection) as queries:
            load_snapshot(clock.now(), Choices())
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 30
    assert DeviceAllocation.objects.count() == 6


def test_a_decision_that_changes_nothing_writes_nothing(noon: datetime) -> None:
    make.node(gpus=1)
    # Not preemptible, without a guarantee: each waits, and says so once.
    for _ in range(4):
        make.job(make.project(gpus=0, limit=1))
    services.decide_and_apply(noon)
    with CaptureQueriesContext(connection) as queries:
        services.decide_and_apply(noon)
    written = [row["sql"] for row in queries if row["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert [sql for sql in written if "pastuse" not in sql] == []
