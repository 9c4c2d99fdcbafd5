"""What jobs cost: by day of the organisation, by price, over a change of the clock."""

import itertools
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.range import Int4Range, TimestamptzRange
from pytest_django import Settings

from inventory.models import NodePrice
from scheduling import selectors, services
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Charge, DeviceAllocation
from scheduling.tests import factories as make

Freeze = Callable[[datetime], None]
HOUR = 3600 * 1000


def price(fake: make.FakeNode, amount: str, start: str, *, minutes: tuple[int, int] = (0, 1440)) -> None:
    NodePrice.objects.create(
        node=fake.node,
        during=TimestamptzRange(make.instant(start), None),
        minutes=Int4Range(*minutes),
        per_gpu_hour=Decimal(amount),
        currency="EUR",
    )


def ran(freeze: Freeze, fake: make.FakeNode, start: str, end: str, **changes: object) -> None:
    """A job that held its devices from ``start`` to ``end``."""
    freeze(make.instant(start))
    job = make.running_job(make.project(), [fake], **changes)
    freeze(make.instant(end))
    [member] = make.members_of(job)
    fake.end(member.pk)
    fake.sync()


@pytest.mark.django_db
def test_a_job_over_midnight_is_charged_to_both_days(freeze: Freeze, settings: Settings) -> None:
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"
    freeze(make.instant("2030-01-14 00:00"))
    fake = make.node()
    ran(freeze, fake, "2030-01-14 22:00", "2030-01-15 01:30", milli_gpus=2000)
    by_date = {charge.day: charge for charge in Charge.objects.filter(allocation__device__index=0)}
    assert {day: row.milli_gpu_seconds for day, row in by_date.items()} == {
        date(2030, 1, 14): HOUR,
        date(2030, 1, 15): 5 * HOUR // 2,
    }
    assert {row.per_gpu_hour for row in by_date.values()} == {None}  # unknown, not free
    assert Charge.objects.count() == 4


@pytest.mark.django_db
def test_the_day_of_a_change_of_the_clock_is_as_long_as_it_is(freeze: Freeze, settings: Settings) -> None:
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"
    freeze(make.instant("2030-10-26 00:00"))
    fake = make.node()
    ran(freeze, fake, "2030-10-26 20:00", "2030-10-28 01:00")
    assert {row.day: row.milli_gpu_seconds for row in Charge.objects.all()} == {
        date(2030, 10, 26): 2 * HOUR,
        date(2030, 10, 27): 25 * HOUR,
        date(2030, 10, 28): 2 * HOUR,
    }


@pytest.mark.django_db
def test_a_change_of_price_cuts_the_charge(freeze: Freeze) -> None:
    freeze(make.instant("2030-03-01 08:00"))
    fake = make.node()
    price(fake, "2.50", "2030-03-01 00:00", minutes=(0, 720))
    price(fake, "1.00", "2030-03-01 00:00", minutes=(720, 1440))
    ran(freeze, fake, "2030-03-01 11:00", "2030-03-01 14:00", milli_gpus=500)
    rows = Charge.objects.order_by("during").values_list("per_gpu_hour", "milli_gpu_seconds", "currency")
    assert list(rows) == [(Decimal("2.5000"), HOUR // 2, "EUR"), (Decimal("1.0000"), HOUR, "EUR")]


@pytest.mark.django_db
def test_charges_cover_an_allocation_whole_and_once(freeze: Freeze) -> None:
    freeze(make.instant("2030-03-01 08:00"))
    fake = make.node()
    price(fake, "2.50", "2030-03-02 03:17", minutes=(7, 1300))
    ran(freeze, fake, "2030-03-01 08:00", "2030-03-04 08:00")
    allocation = DeviceAllocation.objects.get()
    rows = list(Charge.objects.order_by("during"))
    assert rows[0].during.lower == allocation.allocated_at
    assert rows[-1].during.upper == allocation.released_at
    assert all(one.during.upper == two.during.lower for one, two in itertools.pairwise(rows))
    assert sum(row.milli_gpu_seconds for row in rows) == 72 * HOUR


@pytest.mark.django_db
def test_use_by_day_counts_what_still_runs_and_agrees_with_the_charges(freeze: Freeze) -> None:
    freeze(make.instant("2030-03-01 08:00"))
    fake = make.node()
    project = make.project()
    job = make.running_job(project, [fake], milli_gpus=2000)
    freeze(make.instant("2030-03-02 02:00"))
    live = selectors.gpu_hours_by_day(date(2030, 3, 1), date(2030, 3, 2))
    assert [(row.day.day, row.gpu_hours, row.is_simulated) for row in live] == [(1, 32.0, False), (2, 4.0, False)]
    assert selectors.milli_by_day(date(2030, 3, 1), date(2030, 3, 2), [project.pk]) == {
        project.pk: [32 * HOUR, 4 * HOUR]
    }
    assert selectors.gpu_hours_by_day(date(2030, 3, 3), date(2030, 3, 9)) == []
    [member] = make.members_of(job)
    fake.end(member.pk)
    fake.sync()
    freeze(make.instant("2030-03-05 02:00"))
    ended = selectors.gpu_hours_by_day(date(2030, 3, 1), date(2030, 3, 9), [project.pk])
    assert [row.gpu_hours for row in ended] == [32.0, 4.0]
    assert sum(row.milli_gpu_seconds for row in ended) == sum(c.milli_gpu_seconds for c in Charge.objects.all())
    assert selectors.gpu_hours_by_day(date(2030, 3, 1), date(2030, 3, 9), []) == []
    assert selectors.milli_by_day(date(2030, 3, 2), date(2030, 3, 3), [project.pk]) == {project.pk: [4 * HOUR, 0]}


@pytest.mark.django_db
def test_a_lost_node_is_charged_up_to_its_loss_only(freeze: Freeze) -> None:
    freeze(make.instant("2030-03-01 08:00"))
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    freeze(make.instant("2030-03-01 10:00"))
    make.fall_silent(fake)
    services.members_lose_sight()
    services.node_declare_lost(actor=make.admin(), node_id=fake.node.pk)
    assert not Charge.objects.exists()
    freeze(make.instant("2030-03-03 10:00"))
    fake.end(member.pk, "lost", None)
    fake.sync()
    assert Charge.objects.get().milli_gpu_seconds == 2 * HOUR


START = datetime.fromisoformat("2030-03-30T00:00:00+00:00")
MOMENTS = st.integers(0, 10**12).map(lambda micros: START + timedelta(microseconds=micros))


@given(milli=st.integers(1, 1000), moments=st.lists(MOMENTS, min_size=2, max_size=6))
def test_parts_add_up_to_the_whole_whatever_the_cuts(milli: int, moments: list[datetime]) -> None:
    moments.sort()
    origin, end = moments[0], moments[-1]
    parts = [milli_gpu_seconds(milli, origin, a, b) for a, b in itertools.pairwise(moments)]
    assert sum(parts) == milli_gpu_seconds(milli, origin, origin, end)
    assert all(part >= 0 for part in parts)


@given(start=MOMENTS, length=st.integers(1, 10**12))
def test_days_are_whole_in_order_and_without_a_gap(start: datetime, length: int) -> None:
    end = start + timedelta(microseconds=length)
    pieces = list(by_day(start, end))
    assert pieces[0][1] == start
    assert pieces[-1][2] == end
    assert all(one[2] == two[1] and one[0] < two[0] for one, two in itertools.pairwise(pieces))
