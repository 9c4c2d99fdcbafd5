"""Capacity over time, by itself."""

from datetime import UTC, datetime, timedelta

import pytest

from inventory.capacity import Capacity, CapacityStep, reserve_gpus, timeline
from kernel.intervals import Interval

START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("capacity", "points", "reserve"),
    [(0, 500, 0), (8, 0, 0), (8, 500, 1), (100, 500, 5), (101, 500, 6), (412, 750, 31), (8, 10_000, 8)],
)
def test_the_reserve_is_rounded_up_to_whole_gpus(capacity: int, points: int, reserve: int) -> None:
    assert reserve_gpus(capacity, points) == reserve
    assert Capacity(capacity, reserve).usable == capacity - reserve


def test_a_step_at_the_start_and_one_at_each_change() -> None:
    facts = [(Interval(START), 8), (Interval(START + DAY, START + 3 * DAY), 8), (Interval(START + 2 * DAY), 4)]
    reserves = [(Interval(START + 2 * DAY), 1000)]
    assert timeline(facts, reserves, Interval(START + DAY / 2, START + 9 * DAY)) == [
        CapacityStep(START + DAY / 2, Capacity(8, 0)),
        CapacityStep(START + DAY, Capacity(16, 0)),
        CapacityStep(START + 2 * DAY, Capacity(20, 2)),
        CapacityStep(START + 3 * DAY, Capacity(12, 2)),
    ]


def test_a_change_without_effect_is_no_step() -> None:
    facts = [(Interval(START, START + DAY), 8), (Interval(START + DAY), 8)]
    assert timeline(facts, [], Interval(START)) == [CapacityStep(START, Capacity(8, 0))]
