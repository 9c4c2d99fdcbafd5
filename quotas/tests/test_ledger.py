"""The arithmetic by itself: laws over random histories, and the cases that people ask about."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kernel.intervals import Interval
from quotas.ledger import Entry, ModelFacts, broken, cover, cover_within, steps, supersede, tightest, tightest_part

START = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def at(hour: int) -> datetime:
    return START + hour * HOUR


def between(first: int, last: int | None) -> Interval:
    return Interval(at(first), None if last is None else at(last))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    first = draw(st.integers(0, 20))
    length = draw(st.none() | st.integers(1, 12))
    return between(first, None if length is None else first + length)


amounts = st.lists(st.tuples(intervals(), st.integers(0, 50)), max_size=8).map(tuple)
facts_of_a_model = st.builds(
    ModelFacts, amounts, st.tuples(st.tuples(st.just(between(0, None)), st.integers(0, 10_000))), amounts, amounts
)
whole = Interval(START)


def sum_at(rows: tuple[tuple[Interval, int], ...], instant: datetime) -> int:
    return sum(amount for interval, amount in rows if interval.contains(instant))


@given(facts_of_a_model, st.integers(0, 40))
def test_each_step_says_what_a_sum_at_that_moment_says(facts: ModelFacts, half_hour: int) -> None:
    instant = START + half_hour * HOUR / 2
    here = [step for step in steps(facts, whole) if step.at <= instant][-1]
    assert here.capacity == sum_at(facts.gpus, instant)
    assert here.promised == sum_at(facts.promised, instant)
    assert here.emergency == sum_at(facts.emergency, instant)
    points = sum_at(facts.reserve, instant)
    assert 10_000 * (here.reserve - 1) < here.capacity * points <= 10_000 * here.reserve


@given(facts_of_a_model, intervals())
def test_the_tightest_is_no_looser_than_any_moment_of_the_window(facts: ModelFacts, window: Interval) -> None:
    tight = tightest(facts, window)
    assert window.contains(tight.at)
    for half_hour in range(80):
        instant = START + half_hour * HOUR / 2
        if window.contains(instant):
            usable = [step.usable for step in steps(facts, whole) if step.at <= instant][-1]
            assert tight.free <= usable - sum_at(facts.promised, instant)


@given(facts_of_a_model)
def test_broken_names_the_first_breach_or_there_is_none(facts: ModelFacts) -> None:
    step = broken(facts, whole)
    breaches = [s for s in steps(facts, whole) if s.free < 0 or s.emergency > s.reserve]
    assert step == (breaches[0] if breaches else None)


@st.composite
def base_rows(draw: st.DrawFn) -> list[Entry]:
    """Rows that do not overlap, as the exclusion constraint keeps them."""
    edges = sorted(draw(st.sets(st.integers(0, 30), min_size=2, max_size=9)))
    pairs = list(zip(edges, [*edges[1:-1], draw(st.sampled_from([edges[-1], None]))], strict=False))
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
    return [Entry(i, between(*pair), draw(st.integers(1, 9))) for i, pair in enumerate(sorted(kept, key=str))]


@given(base_rows(), intervals())
def test_superseding_changes_nothing_outside_the_new_interval_and_leaves_room_inside(
    rows: list[Entry], new: Interval
) -> None:
    plan = supersede(rows, new)
    after = tuple(plan.after())
    before = tuple((row.during, row.amount) for row in rows)
    for half_hour in range(80):
        instant = START + half_hour * HOUR / 2
        expected = 0 if new.contains(instant) else sum_at(before, instant)
        assert sum_at(after, instant) == expected
        assert sum(interval.contains(instant) for interval, _amount in after) <= 1
    assert all(row.during.start >= new.start for row in plan.voided)
    assert {row.id for row in (*plan.ended, *plan.voided, *plan.kept)} == {row.id for row in rows}


def test_a_grant_for_a_week_lets_the_old_one_go_on_after_it() -> None:
    plan = supersede([Entry(1, between(0, None), 4)], between(10, 20))
    assert [row.during for row in plan.ended] == [between(0, 10)]
    assert [(row.id, rest) for row, rest in plan.continued] == [(1, between(20, None))]
    assert not plan.voided


def test_what_was_to_come_is_voided_and_what_starts_with_the_new_one_too() -> None:
    plan = supersede([Entry(1, between(10, 12), 4), Entry(2, between(15, 30), 2)], between(10, None))
    assert [row.id for row in plan.voided] == [1, 2]
    assert not plan.ended
    assert not plan.continued


def test_neighbours_that_only_touch_are_left_alone() -> None:
    plan = supersede([Entry(1, between(0, 10), 4), Entry(2, between(20, None), 4)], between(10, 20))
    assert [row.id for row in plan.kept] == [1, 2]
    assert not plan.ended
    assert not plan.voided
    assert not plan.continued


@given(amounts)
def test_a_cover_is_the_sum_in_rows_that_do_not_overlap(parts: tuple[tuple[Interval, int], ...]) -> None:
    rows = tuple(cover(parts, whole))
    for half_hour in range(80):
        instant = START + half_hour * HOUR / 2
        assert sum_at(rows, instant) == sum_at(parts, instant)
        assert sum(interval.contains(instant) for interval, _amount in rows) <= 1


@given(amounts, facts_of_a_model)
def test_a_cover_within_what_is_free_never_breaks_the_law_and_never_covers_more_than_there_is(
    parts: tuple[tuple[Interval, int], ...], others: ModelFacts
) -> None:
    rows = tuple(cover_within(parts, others, whole))
    for step in steps(others, whole):
        assert sum_at(rows, step.at) <= max(0, step.free)
        assert sum_at(rows, step.at) <= sum_at(parts, step.at)


@given(facts_of_a_model, intervals())
def test_a_part_of_a_course_is_as_tight_as_its_window_looked_at_alone(facts: ModelFacts, window: Interval) -> None:
    assert tightest_part(steps(facts, whole), window).free == tightest(facts, window).free
