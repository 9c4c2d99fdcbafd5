"""The grid and the gaps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.engine.series import Cell, Window, default_step, held_counts, mean_of, series, without_running_gap

NOON = datetime(2026, 6, 9, 12, 0, tzinfo=UTC)


def test_a_window_lies_on_the_grid_and_covers_what_was_asked() -> None:
    window = Window.covering(NOON + timedelta(seconds=61), NOON + timedelta(seconds=130), 60)
    assert (window.start, window.end) == (NOON + timedelta(seconds=60), NOON + timedelta(seconds=180))
    assert window.instants == [NOON + timedelta(seconds=60), NOON + timedelta(seconds=120)]


@given(
    start=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    length_s=st.integers(1, 100_000),
    step_s=st.integers(10, 3600),
)
def test_every_instant_asked_for_falls_into_one_step(start: datetime, length_s: int, step_s: int) -> None:
    window = Window.covering(start, start + timedelta(seconds=length_s), step_s)
    assert window.start <= start < window.start + timedelta(seconds=step_s)
    assert window.end - timedelta(seconds=step_s) < start + timedelta(seconds=length_s) <= window.end
    assert len(window.instants) == window.count >= 1


def test_a_step_without_samples_is_a_gap_and_not_zero() -> None:
    window = Window.covering(NOON, NOON + timedelta(seconds=180), 60)
    busy = Cell(n=4, utilisation_sum=200.0, low_pct=40.0, high_pct=60.0, memory_bytes=7, power_mw=1500.0, gpus=2)
    blind = Cell(n=0, utilisation_sum=None, low_pct=None, high_pct=None, memory_bytes=9, power_mw=None, gpus=1)
    answer = series(window, {0: busy, 2: blind, 7: busy})
    assert answer.utilisation_pct == [50.0, None, None]
    assert answer.low_pct == [40.0, None, None]
    assert answer.high_pct == [60.0, None, None]
    assert answer.memory_used_bytes == [7, None, 9]
    assert answer.power_w == [1.5, None, None]
    assert answer.gpus == [2, 0, 1]
    assert answer.n == [4, 0, 0]


def test_the_mean_weighs_samples_and_not_steps() -> None:
    window = Window.covering(NOON, NOON + timedelta(seconds=120), 60)
    many = Cell(n=9, utilisation_sum=900.0, low_pct=100.0, high_pct=100.0, memory_bytes=None, power_mw=None, gpus=1)
    one = Cell(n=1, utilisation_sum=0.0, low_pct=0.0, high_pct=0.0, memory_bytes=None, power_mw=None, gpus=1)
    assert series(window, {0: many, 1: one}).mean_pct == 90.0
    assert series(window, {}).mean_pct is None


def test_a_sum_without_a_count_is_no_data() -> None:
    window = Window.covering(NOON, NOON + timedelta(seconds=60), 60)
    odd = Cell(n=0, utilisation_sum=0.0, low_pct=None, high_pct=None, memory_bytes=None, power_mw=None, gpus=1)
    assert series(window, {0: odd}).utilisation_pct == [None]


@pytest.mark.parametrize(
    ("seconds", "step"),
    [(600, 30), (3600, 30), (6 * 3600, 120), (86400, 600), (172800, 900), (365 * 86400, 86400)],
)
def test_the_default_step_is_round(seconds: int, step: int) -> None:
    assert default_step(seconds) == step


def test_mean_of_ignores_gaps() -> None:
    assert mean_of([None, 10.0, 20.0]) == 15.0
    assert mean_of([None]) is None


def test_held_gpus_are_counted_once_in_each_step_they_touch() -> None:
    window = Window.covering(NOON, NOON + timedelta(seconds=240), 60)
    at = [NOON + timedelta(seconds=seconds) for seconds in (-30, 30, 60, 150, 180, 500)]
    assert held_counts(window, [(1, at[0], at[2])]) == [1, 0, 0, 0]
    assert held_counts(window, [(1, at[1], at[3]), (1, at[3], at[4]), (2, at[4], None)]) == [1, 1, 1, 1]
    assert held_counts(window, [(1, at[0], at[5]), (2, at[1], at[2])]) == [2, 1, 1, 1]
    assert held_counts(window, []) == [0, 0, 0, 0]


def test_a_step_that_is_not_over_and_still_empty_is_no_gap() -> None:
    window = Window.covering(NOON, NOON + timedelta(seconds=180), 60)
    busy = Cell(n=1, utilisation_sum=9.0, low_pct=9.0, high_pct=9.0, memory_bytes=1, power_mw=None, gpus=1)
    running, over = NOON + timedelta(seconds=150), NOON + timedelta(seconds=180)
    empty_end = series(window, {0: busy})
    cut = without_running_gap(empty_end, running)
    assert (cut.window.count, cut.utilisation_pct, cut.gpus) == (2, [9.0, None], [1, 0])
    assert without_running_gap(empty_end, over) == empty_end
    full = series(window, {2: busy})
    assert without_running_gap(full, running) == full
    only = series(Window.covering(NOON, NOON + timedelta(seconds=60), 60), {})
    assert without_running_gap(only, NOON) == only
