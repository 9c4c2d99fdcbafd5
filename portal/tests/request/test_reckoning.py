"""What the form reckons, against ledgers worked out by hand: days that fit, what is offered, who decides."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import override_settings

from approvals.rules import Measures, Rule, StepRule
from inventory.prices import Price, PriceSegment
from kernel.intervals import Interval
from portal.pages.price import mean_price
from portal.pages.request.chart import MOST_BARS, bars_of, day_chart
from portal.pages.request.fit import Run, fit_of
from portal.pages.request.money import gpu_hours
from portal.pages.request.totals import Held, ends_at, first_day, last_day, starts_at
from portal.pages.request.way import way_of
from quotas.ledger import ModelFacts
from quotas.raises import Part

FIRST = date(2026, 6, 15)


@pytest.fixture(autouse=True)
def in_utc() -> object:
    with override_settings(ORGANISATION_TIME_ZONE="UTC"):
        yield


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 6, 15, hour, tzinfo=UTC) + timedelta(days=day)


def facts(*promised: tuple[int, int | None, int]) -> ModelFacts:
    """128 GPUs, a reserve of an eighth: 112 usable. Promises as (from day, to day, GPUs)."""
    rows = tuple((Interval(at(a), None if b is None else at(b)), gpus) for a, b, gpus in promised)
    return ModelFacts(((Interval(at(-9)), 128),), ((Interval(at(-9)), 1250),), rows)


def asked(gpus: int, during: Interval) -> list[Part]:
    return [Part(during, gpus, gpus)]


def test_a_reservation_in_the_middle_leaves_44_of_47_days() -> None:
    """112 usable, 40 promised: 72 free; 56 free while 16 more are promised for three days."""
    during = Interval(at(0), at(47))
    fit = fit_of(facts((-5, None, 40), (21, 24, 16)), asked(64, during), during)
    assert (fit.fitting, fit.count, fit.most) == (44, 47, 64)
    assert fit.tight == (Run(date(2026, 7, 6), date(2026, 7, 8), 56, 64),)
    assert fit.fits_throughout == 56
    assert fit.longest == (date(2026, 7, 9), date(2026, 7, 31))
    assert fit.days[0].left == 8


def test_a_day_counts_as_it_is_at_its_tightest() -> None:
    during = Interval(at(0, 6), at(2))
    rows = ModelFacts(
        ((Interval(at(-1)), 8),), (), ((Interval(at(0, 22), at(0, 23)), 5), (Interval(at(0), at(0, 5)), 8))
    )
    fit = fit_of(rows, asked(4, during), during)
    assert [(day.day.day, day.free, day.fits) for day in fit.days] == [(15, 3, False), (16, 8, True)]


def test_what_is_held_already_is_not_asked_for_again() -> None:
    during = Interval(at(0), at(4))
    parts = [Part(Interval(at(0), at(2)), 8, 8), Part(Interval(at(2), at(4)), 16, 16)]
    fit = fit_of(facts((0, None, 100)), parts, during)
    assert [day.fits for day in fit.days] == [True, True, False, False]


def test_without_an_end_ninety_days_are_looked_at() -> None:
    fit = fit_of(facts(), asked(8, Interval(at(0))), Interval(at(0)))
    assert (fit.count, fit.is_open, fit.fits) == (90, True, True)


def test_more_days_than_bars_are_joined_by_their_worst() -> None:
    during = Interval(at(0), at(200))
    fit = fit_of(facts((100, 101, 112)), asked(8, during), during)
    bars = bars_of(fit.days)
    assert len(bars) <= MOST_BARS
    assert [bar.worst.fits for bar in bars].count(False) == 1
    drawn = day_chart(fit, label="<b>")
    assert "day-tight" in drawn
    assert "<b>" not in drawn


@pytest.mark.parametrize(
    ("held", "more", "limit_more", "total", "limit"),
    [
        (Held(64, 128), 64, 32, 128, 160),
        (Held(64, 128), 8, None, 72, 128),
        (Held(64, 64), 8, None, 72, 72),
        (Held(0, 0), 8, 16, 8, 16),
        (Held(8, None), 8, None, 16, None),
        (Held(64, 128), -16, None, 48, 128),
    ],
)
def test_more_becomes_totals_and_back(
    held: Held, more: int, limit_more: int | None, total: int, limit: int | None
) -> None:
    assert held.total(more) == total
    assert held.limit_total(limit_more, total) == limit
    assert held.more(total) == more
    assert held.limit_more(limit, total) == limit_more


def test_days_are_whole_days_of_the_organisation() -> None:
    with override_settings(ORGANISATION_TIME_ZONE="Asia/Shanghai"):
        assert starts_at(FIRST, FIRST) is None
        assert starts_at(date(2026, 6, 16), FIRST) == datetime(2026, 6, 15, 16, tzinfo=UTC)
        end = ends_at(FIRST)
        assert end == datetime(2026, 6, 15, 16, tzinfo=UTC)
        assert last_day(end) == FIRST
        assert first_day(starts_at(date(2026, 6, 16), FIRST)) == date(2026, 6, 16)


def test_hours_and_the_mean_price() -> None:
    during = Interval(at(0), at(47))
    assert gpu_hours(asked(64, during), during) == 64 * 47 * 24
    assert gpu_hours(asked(1, Interval(at(0))), Interval(at(0))) == 30 * 24
    day = Interval(at(0), at(1))
    cuts = {1: [PriceSegment(day, Price(Decimal(2), "USD"))], 2: [PriceSegment(day, Price(Decimal(4), "USD"))]}
    assert mean_price({1: 8, 2: 24}, cuts) == (Decimal("3.5"), "USD")


ADMIN, DIRECTOR = StepRule(("admin",)), StepRule(("director",))
RULES = (
    Rule("none", (), most_gpus=0),
    Rule("small", (), most_gpus=8, most_share_percent=2, most_days=14),
    Rule("middle", (ADMIN,), most_gpus=32),
    Rule("rest", (ADMIN, DIRECTOR)),
)


@pytest.mark.parametrize(
    ("measures", "rule", "hints"),
    [
        (Measures(64, 8.0, 47, None), "rest", [(8, 14, 0), (32, None, 1)]),
        (Measures(64, 8.0, 10, None), "rest", [(8, None, 0), (32, None, 1)]),
        (Measures(64, 40.0, 10, None), "rest", [(3, None, 0), (32, None, 1)]),
        (Measures(16, 1.0, None, None), "middle", [(8, 14, 0)]),
        (Measures(8, 1.0, 14, None), "small", []),
        (Measures(None, None, None, None), "rest", []),
    ],
)
def test_who_decides_and_what_would_be_shorter(
    measures: Measures, rule: str, hints: list[tuple[int, int | None, int]]
) -> None:
    way = way_of(RULES, measures)
    assert way is not None
    assert way.rule.name == rule
    assert [(hint.gpus, hint.days, len(hint.rule.steps)) for hint in way.hints] == hints
