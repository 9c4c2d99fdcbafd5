"""Clock, intervals and the organisation's days, also when the clocks change."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from kernel import clock
from kernel.calendar import day_bounds, local_day, organisation_zone
from kernel.intervals import Interval, peak

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


def at(hour: float) -> datetime:
    return MIDNIGHT + timedelta(hours=hour)


# --- clock


def test_the_clock_stands_inside_and_runs_again_after() -> None:
    with clock.frozen(at(1)):
        assert clock.now() == at(1)
        with clock.frozen(at(2)):
            assert clock.now() == at(2)
        assert clock.now() == at(1)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_frozen_instant_is_in_utc_and_needs_a_zone() -> None:
    with clock.frozen(datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Asia/Shanghai"))):
        assert clock.now().isoformat() == "2026-07-01T04:00:00+00:00"
    with pytest.raises(ValueError, match="time zone"), clock.frozen(datetime(2026, 7, 1)):  # noqa: DTZ001
        pass


@pytest.mark.django_db
def test_the_databases_clock_is_not_frozen() -> None:
    with clock.frozen(at(0)):
        assert clock.database_now().tzinfo is not None
        assert abs(clock.database_now() - datetime.now(UTC)) < timedelta(minutes=1)


# --- intervals


@pytest.mark.parametrize("end", [0, -1])
def test_an_interval_ends_after_it_starts(end: float) -> None:
    with pytest.raises(ValueError, match="ends after it starts"):
        Interval(at(0), at(end))


def test_the_end_is_not_inside() -> None:
    hour = Interval(at(0), at(1))
    assert hour.contains(at(0))
    assert not hour.contains(at(1))
    assert not hour.overlaps(Interval(at(1), at(2)))
    assert hour.overlaps(Interval(at(0.999)))
    assert Interval(at(0)).contains(at(1e4))


def test_seconds_of_an_open_interval_run_until_asked() -> None:
    assert Interval(at(0)).seconds(at(1)) == 3600
    assert Interval(at(0), at(1)).seconds(at(9)) == 3600
    assert Interval(at(2)).seconds(at(1)) == 0


hours = st.integers(0, 12)
intervals = st.tuples(hours, st.one_of(st.none(), st.integers(1, 12))).map(
    lambda pair: Interval(at(pair[0]), None if pair[1] is None else at(pair[0] + pair[1]))
)
INSTANTS = [at(half / 2) for half in range(60)]


@given(intervals, intervals)
def test_an_intersection_holds_exactly_the_instants_of_both(a: Interval, b: Interval) -> None:
    both = a.intersection(b)
    assert a.overlaps(b) == (both is not None)
    for instant in INSTANTS:
        assert (a.contains(instant) and b.contains(instant)) == (both is not None and both.contains(instant))


@given(st.lists(st.tuples(intervals, st.integers(-5, 20)), max_size=8), intervals)
def test_the_peak_is_the_greatest_sum_at_any_instant(steps: list[tuple[Interval, int]], within: Interval) -> None:
    """Amounts only change on whole hours, so half hours hit every piece."""
    sums = {
        instant: sum(amount for interval, amount in steps if interval.contains(instant))
        for instant in INSTANTS
        if within.contains(instant)
    }
    height, when = peak(steps, within)
    assert height == max(sums.values())
    assert when == min(instant for instant, total in sums.items() if total == height)


def test_nothing_in_force_is_a_peak_of_zero() -> None:
    assert peak([], Interval(at(3), at(4))) == (0, at(3))


# --- days


def test_a_day_is_the_organisations_not_utcs(settings: Settings) -> None:
    settings.ORGANISATION_TIME_ZONE = "Asia/Shanghai"
    assert organisation_zone().key == "Asia/Shanghai"
    assert local_day(datetime(2026, 3, 1, 16, tzinfo=UTC)) == date(2026, 3, 2)
    assert local_day(datetime(2026, 3, 1, 15, 59, tzinfo=UTC)) == date(2026, 3, 1)
    day = day_bounds(date(2026, 3, 2))
    assert (day.start, day.end) == (datetime(2026, 3, 1, 16, tzinfo=UTC), datetime(2026, 3, 2, 16, tzinfo=UTC))


@pytest.mark.parametrize(
    ("zone", "day", "length"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("Europe/Berlin", date(2026, 6, 1), 24),
        ("America/Sao_Paulo", date(2018, 11, 4), 23),  # midnight itself did not exist
    ],
)
def test_a_day_is_as_long_as_the_clocks_make_it(settings: Settings, zone: str, day: date, length: int) -> None:
    settings.ORGANISATION_TIME_ZONE = zone
    bounds = day_bounds(day)
    assert bounds.end is not None
    assert (bounds.end - bounds.start) == timedelta(hours=length)


@given(st.dates(date(2015, 1, 2), date(2035, 1, 1)), st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]))
def test_days_follow_one_another_without_gap_or_overlap(day: date, zone: str) -> None:
    with override_settings(ORGANISATION_TIME_ZONE=zone):
        bounds, following = day_bounds(day), day_bounds(day + timedelta(days=1))
        assert bounds.end == following.start
        assert local_day(bounds.start) == day
        assert bounds.end is not None
        assert local_day(bounds.end - timedelta(microseconds=1)) == day
