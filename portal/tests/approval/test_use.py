"""What a project made of its guarantee, what more would cost, and the small pictures of it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from inventory.prices import Price, PriceSegment
from kernel.intervals import Interval
from portal.pages.approval.evidence.outlook import Asked, outlook
from portal.pages.approval.quota.facts import Held
from portal.pages.approval.quota.pictures import Amounts, asked_bar, tall_spark
from portal.pages.approval.quota.use import Use, gpu_hours_of, share_of
from portal.pages.price import mean_price
from quotas.ledger import ModelFacts

START = datetime(2026, 6, 15, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def held(guaranteed: int, during: Interval) -> Held:
    return Held(1, "base", guaranteed, None, during)


def test_use_is_of_what_was_guaranteed_then() -> None:
    rows = [held(8, Interval(START, START + DAY)), held(4, Interval(START + DAY))]
    assert share_of(START, 4, rows, ()) == 50
    assert share_of(START + DAY, 4, rows, ()) == 100
    assert share_of(START + DAY, 9, rows, ()) == 100


def test_what_nobody_can_tell_is_a_gap_and_not_nothing() -> None:
    rows = [held(8, Interval(START))]
    assert share_of(START - DAY, 0, rows, ()) is None
    assert share_of(START, 0, rows, [Interval(START + HOUR, START + 2 * HOUR)]) is None
    assert share_of(START, 0, rows, [Interval(START + 7 * HOUR, START + 8 * HOUR)]) == 0
    assert Use((None, 50.0, 100.0), None).mean_pct == 75
    assert Use((None,), None).mean_pct is None


def test_gaps_are_drawn_as_gaps_and_text_is_escaped() -> None:
    drawn = tall_spark((10.0, None, 90.0, 95.0), label="<b>")
    assert "no-data" in drawn and "spark-line" in drawn and "<b>" not in drawn


def test_the_bar_ends_at_the_limit_or_leaves_room() -> None:
    limited, open_ended = Amounts(61, 64, 128, 192), Amounts(61, 64, 96, None)
    assert (limited.full, open_ended.full) == (192, 128)
    drawn = asked_bar(limited, label="")
    assert 'width="66.67%"' in drawn and 'width="31.77%"' in drawn and 'x="33.33%"' in drawn


def day(price: Decimal | None, currency: str = "USD", start: datetime = START) -> list[PriceSegment]:
    return [PriceSegment(Interval(start, start + DAY), None if price is None else Price(price, currency))]


def test_the_mean_price_weighs_the_gpus_of_each_node() -> None:
    assert mean_price({1: 8, 2: 24}, {1: day(Decimal(2)), 2: day(Decimal(6))}) == (Decimal(5), "USD")


def test_a_night_price_counts_by_its_hours() -> None:
    halves = [
        PriceSegment(Interval(START, START + 6 * HOUR), Price(Decimal(4), "USD")),
        PriceSegment(Interval(START + 6 * HOUR, START + DAY), Price(Decimal(8), "USD")),
    ]
    assert mean_price({1: 8}, {1: halves}) == (Decimal(7), "USD")


def test_no_price_or_two_currencies_is_no_sum() -> None:
    assert mean_price({1: 8, 2: 8}, {1: day(Decimal(2)), 2: day(None)}) is None
    assert mean_price({1: 8, 2: 8}, {1: day(Decimal(2)), 2: day(Decimal(2), "CNY")}) is None


def test_gpu_hours_are_those_on_top() -> None:
    during = Interval(START + DAY, START + 3 * DAY)
    asked = Asked(12, during, ((Interval(START), 4),))
    facts = ModelFacts(((Interval(START), 64),), (), ((Interval(START), 4),))
    assert gpu_hours_of(outlook(asked, facts, (), START, START)) == 8 * 48
    forever = Asked(12, Interval(START + DAY), ((Interval(START), 4),))
    assert gpu_hours_of(outlook(forever, facts, (), START, START)) == 8 * 24 * 30
