"""Capacity over time, by itself."""

from datetime import UTC, datetime, timedelta

import pytest

from inventory.capacity import Capacity, reserve_gpus, sweep
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
    assert sweep((facts, reserves), Interval(START + DAY / 2, START + 9 * DAY)) == [
        (START + DAY / 2, (8, 0)),
        (START + DAY, (16, 0)),
        (START + 2 * DAY, (20, 1000)),
        (START + 3 * DAY, (12, 1000)),
    ]


def test_what_follows_without_a_gap_keeps_its_sum() -> None:
    facts = [(Interval(START, START + DAY), 8), (Interval(START + DAY), 8)]
    assert {sums for _at, sums in sweep((facts,), Interval(START))} == {(8,)}
