"""The figures of the chart, against worlds that are reckoned by hand."""

from datetime import UTC, datetime, timedelta

from inventory.capacity import DatedAmount
from kernel.intervals import Interval
from portal.pages.approval.evidence.chart import capacity_chart
from portal.pages.approval.evidence.outlook import DAY, MOST_SHOWN, Asked, Outlook, axis, outlook
from quotas.ledger import ModelFacts

MIDNIGHT = datetime(2026, 6, 15, tzinfo=UTC)
NOW = MIDNIGHT + timedelta(hours=10)


def at(days: int) -> datetime:
    return MIDNIGHT + days * DAY


def facts(*promised: DatedAmount, emergency: tuple[DatedAmount, ...] = ()) -> ModelFacts:
    """1536 GPUs, of which 120 are kept (781 basis points, rounded up), and these promises."""
    always = Interval(at(-100))
    return ModelFacts(((always, 1536),), ((always, 781),), promised, emergency)


def seen(asked: Asked, *promised: DatedAmount, others: tuple[Asked, ...] = ()) -> Outlook:
    return outlook(asked, facts(*promised), others, NOW, MIDNIGHT)


HELD = (Interval(at(-50)), 64)
MORE = Asked(128, Interval(at(7), at(60)), (HELD,))
PROMISED = ((Interval(at(-90)), 1240), HELD, (Interval(at(21), at(35)), 32))


def test_the_request_lies_on_the_promises_while_it_lasts() -> None:
    found = seen(MORE, *PROMISED)
    assert [(step.at, step.promised, step.asked, step.left) for step in found.steps] == [
        (at(0), 1304, 0, 112),
        (at(7), 1304, 64, 48),
        (at(21), 1336, 64, 16),
        (at(35), 1304, 64, 48),
        (at(60), 1304, 0, 112),
    ]
    assert (found.steps[0].owned, found.steps[0].reserve, found.steps[0].usable) == (1536, 120, 1416)


def test_the_tightest_is_the_least_that_is_left_in_its_time() -> None:
    found = seen(MORE, *PROMISED)
    assert (found.tightest.at, found.tightest.left, found.least_free, found.most_asked) == (at(21), 16, 80, 64)
    assert found.fits


def test_what_is_tight_outside_of_its_time_does_not_count() -> None:
    before, after = (Interval(at(1), at(7)), 100), (Interval(at(60), at(70)), 112)
    found = seen(MORE, *PROMISED, before, after)
    assert found.fits and found.tightest.at == at(21)


def test_one_gpu_too_many_does_not_fit() -> None:
    found = seen(MORE, *PROMISED, (Interval(at(30), at(31)), 17))
    assert (found.fits, found.tightest.left, found.least_free) == (False, -1, 63)


def test_a_request_without_an_end_is_judged_for_all_time_to_come() -> None:
    far = (Interval(at(900), at(901)), 200)
    found = seen(Asked(128, Interval(at(7)), (HELD,)), *PROMISED, far)
    assert (found.fits, found.tightest.at, found.tightest.left) == (False, at(900), -152)
    assert found.shown.end == at(97)


def test_what_it_adds_follows_what_is_held() -> None:
    held = ((Interval(at(-50), at(20)), 64), (Interval(at(20)), 96))
    asked = Asked(80, Interval(at(7), at(30)), held)
    assert asked.added() == [(Interval(at(7), at(20)), 16), (Interval(at(20), at(30)), -16)]
    assert (asked.held_at(at(7)), asked.held_at(at(20))) == (64, 96)


def test_giving_back_always_fits() -> None:
    found = seen(Asked(0, Interval(at(7)), (HELD,)), *PROMISED, (Interval(at(0)), 500))
    assert found.fits and found.tightest.left < 0


def test_what_others_wait_for_is_counted_apart() -> None:
    other = Asked(40, Interval(at(0), at(10)), ())
    found = seen(MORE, *PROMISED, others=(other,))
    assert [(step.at, step.others) for step in found.steps[:3]] == [(at(0), 40), (at(7), 40), (at(10), 0)]
    assert found.steps[1].left == 48


def test_released_reserve_beyond_the_reserve_is_seen() -> None:
    for gpus, is_kept in ((120, True), (121, False)):
        released = facts(*PROMISED, emergency=((Interval(at(10), at(12)), gpus),))
        assert outlook(MORE, released, (), NOW, MIDNIGHT).keeps_reserve is is_kept


def test_a_third_beyond_the_end_is_drawn_and_never_years() -> None:
    assert seen(MORE).shown == Interval(MIDNIGHT, at(80))
    assert seen(Asked(1, Interval(at(1), at(2)), ())).shown == Interval(MIDNIGHT, at(14))
    assert seen(Asked(1, Interval(at(1), at(4000)), ())).shown == Interval(MIDNIGHT, MIDNIGHT + MOST_SHOWN)


def test_the_scale_starts_above_zero_only_where_all_have_that_much() -> None:
    high = axis(seen(MORE, *PROMISED).steps)
    assert high.high == 1536 and 0 < high.low <= 1304 and high.marks[0] == high.low
    assert axis(seen(Asked(5, Interval(at(1)), ()), (Interval(at(0)), 30)).steps).low == 0


def test_the_chart_names_the_request_the_tightest_point_and_its_axis() -> None:
    drawn = capacity_chart(seen(MORE, *PROMISED), label="<b>H100</b>")
    for words in ("this request +64", "tightest: 16 left", "axis starts at", "owned 1 536", "reserve 120", "now"):
        assert words in drawn.replace("\u202f", " ")
    assert "<b>" not in drawn and "chart-others" not in drawn


def test_the_chart_says_how_many_are_too_many() -> None:
    drawn = capacity_chart(seen(MORE, *PROMISED, (Interval(at(30), at(31)), 17)), label="")
    assert "1 too many" in drawn


def test_the_chart_outlines_what_others_wait_for() -> None:
    drawn = capacity_chart(seen(MORE, others=(Asked(9, Interval(at(1)), ()),)), label="")
    assert "chart-others" in drawn and "others that wait +9" in drawn


def test_a_model_without_any_capacity_can_be_drawn() -> None:
    empty = outlook(Asked(4, Interval(at(1), at(2)), ()), ModelFacts(), (), NOW, MIDNIGHT)
    assert "4 too many" in capacity_chart(empty, label="")


def test_a_raise_fills_up_to_its_total_and_takes_nothing_away() -> None:
    held = ((Interval(at(-50), at(20)), 64), (Interval(at(20)), 96))
    asked = Asked(80, Interval(at(7), at(30)), held, is_on_top=True)
    assert asked.added() == [(Interval(at(7), at(20)), 16), (Interval(at(20), at(30)), 0)]


def test_a_new_base_swallows_raises_as_far_as_it_reaches() -> None:
    base, raised = (Interval(at(-50)), 64), (Interval(at(-5), at(20)), 32)

    def added(guaranteed: int) -> list[int]:
        asked = Asked(guaranteed, Interval(at(0), at(30)), (base, raised), (raised,))
        return [amount for _during, amount in asked.added()]

    assert added(80) == [0, 16]
    assert added(128) == [32, 64]
    assert added(48) == [-16, -16]


def test_how_it_stands_now_is_not_how_the_day_began() -> None:
    later = (Interval(MIDNIGHT + timedelta(hours=9)), 10)
    assert seen(MORE, *PROMISED, later).present.promised == 1314
