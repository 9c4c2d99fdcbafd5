"""Prices by date and time of day, by themselves and through the service (INV4)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from accounts.tests import factories as people
from inventory.models import Node, NodePrice
from inventory.prices import MINUTES_OF_DAY, DatedPrice, Price, price_of, segments
from inventory.selectors import price_at, price_segments
from inventory.services import PriceSpec, price_set
from inventory.tests import factories as make
from kernel import clock
from kernel.errors import Forbidden, Invalid
from kernel.intervals import Interval

BERLIN = ZoneInfo("Europe/Berlin")
T0 = datetime(2030, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def usd(amount: str) -> Price:
    return Price(Decimal(amount), "USD")


def dated(first: int, last: int, amount: str, start: datetime = T0 - 999 * DAY) -> DatedPrice:
    return DatedPrice(Interval(start), first, last, usd(amount))


NIGHT_AND_DAY = [dated(0, 480, "1"), dated(480, 1200, "3"), dated(1200, 1440, "2")]


def seconds(parts: list[Any], price: Price | None) -> float:
    return float(sum((part.during.end - part.during.start).total_seconds() for part in parts if part.price == price))


def test_a_day_is_cut_where_the_price_changes() -> None:
    start = datetime(2030, 3, 4, tzinfo=BERLIN).astimezone(UTC)
    parts = segments(NIGHT_AND_DAY, start, start + DAY, BERLIN)
    assert [(part.during.start - start, part.price) for part in parts] == [
        (0 * HOUR, usd("1")),
        (8 * HOUR, usd("3")),
        (20 * HOUR, usd("2")),
    ]


@pytest.mark.parametrize(("day", "hours_at_night"), [("2030-03-31", 7), ("2030-10-27", 9), ("2030-03-04", 8)])
def test_the_hour_that_clocks_skip_costs_nothing_and_the_repeated_one_twice(day: str, hours_at_night: int) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=BERLIN)
    end = (start + DAY).astimezone(UTC)
    parts = segments(NIGHT_AND_DAY, start.astimezone(UTC), end, BERLIN)
    assert seconds(parts, usd("1")) == hours_at_night * 3600
    assert seconds(parts, usd("3")) == 12 * 3600


def test_a_border_inside_the_repeated_hour_counts_in_both() -> None:
    prices = [dated(0, 150, "1"), dated(150, MINUTES_OF_DAY, "2")]
    start, end = datetime(2030, 10, 27, 0, tzinfo=UTC), datetime(2030, 10, 27, 2, tzinfo=UTC)
    parts = segments(prices, start, end, BERLIN)
    assert [part.price for part in parts] == [usd("1"), usd("2"), usd("1"), usd("2")]
    assert all((part.during.end - part.during.start) == HOUR / 2 for part in parts if part.during.end)


@given(
    st.lists(st.tuples(st.integers(0, 1439), st.integers(1, 1440), st.integers(0, 60)), max_size=3),
    st.integers(0, 400 * 48),
    st.integers(1, 60 * 72),
    st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]),
)
def test_segments_are_whole_in_order_and_say_what_the_moment_says(
    raw: list[tuple[int, int, int]], half_hours: int, minutes: int, zone_name: str
) -> None:
    zone = ZoneInfo(zone_name)
    prices = [
        DatedPrice(Interval(T0 + start * DAY), min(a, b - 1), max(a + 1, b), usd(str(i)))
        for i, (a, b, start) in enumerate(raw)
    ]
    begin = T0 + half_hours * HOUR / 2
    end = begin + timedelta(minutes=minutes)
    parts = segments(prices, begin, end, zone)
    assert parts[0].during.start == begin
    assert parts[-1].during.end == end
    for left, right in pairwise(parts):
        assert left.during.end == right.during.start
        assert left.price != right.price
    for part in parts:
        assert part.during.end is not None
        last = part.during.end - timedelta(seconds=1)
        middle = part.during.start + (part.during.end - part.during.start) / 2
        for moment in (part.during.start, middle, last):
            assert price_of(prices, moment, zone) == part.price


@pytest.fixture
def node(db: None) -> Node:
    return make.enrolled(people.admin("ada"), "n1", 2)[0]


def set_price(node: Node, amount: str, **more: Any) -> NodePrice:
    return price_set(actor=node.accepted_by, node_id=node.pk, price=PriceSpec(Decimal(amount), **more))


def prices_at(node: Node, *moments: datetime) -> list[Decimal | None]:
    found = (price_at(node.pk, moment) for moment in moments)
    return [price.per_gpu_hour if price else None for price in found]


def test_a_new_price_ends_the_old_one_and_leaves_the_past(node: Node) -> None:
    with clock.frozen(T0):
        set_price(node, "2")
    with clock.frozen(T0 + DAY):
        set_price(node, "3", effective_from=T0 + 2 * DAY)
        set_price(node, "4", effective_from=T0 + 3 * DAY)
        set_price(node, "5", effective_from=T0 + 2 * DAY)
    assert prices_at(node, T0 - HOUR, T0, T0 + 1.9 * DAY, T0 + 2 * DAY, T0 + 9 * DAY) == [None, 2, 2, 5, 5]


def test_a_price_for_some_hours_leaves_the_others_as_they_were(node: Node) -> None:
    with clock.frozen(T0):
        set_price(node, "2")
        set_price(node, "1", first_minute=60, last_minute=360, effective_from=T0 + HOUR)
    night, day = T0.replace(hour=3) + DAY, T0 + DAY
    assert prices_at(node, T0 + HOUR / 2, day, night, night.replace(hour=0)) == [2, 2, 1, 2]
    parts = price_segments(node.pk, Interval(T0), T0 + DAY)
    assert [part.price.per_gpu_hour for part in parts if part.price] == [2, 1, 2]
    assert parts[0].during.start == T0
    assert parts[-1].during.end == T0 + DAY


@override_settings(ORGANISATION_TIME_ZONE="Asia/Shanghai")
def test_hours_are_those_of_the_organisation(node: Node) -> None:
    with clock.frozen(T0):
        set_price(node, "1", first_minute=0, last_minute=480)
    assert prices_at(node, datetime(2030, 3, 5, 20, tzinfo=UTC), datetime(2030, 3, 5, 1, tzinfo=UTC)) == [1, None]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"per_gpu_hour": Decimal("-1")}, "per_gpu_hour"),
        ({"per_gpu_hour": Decimal("NaN")}, "per_gpu_hour"),
        ({"per_gpu_hour": Decimal(10) ** 9}, "per_gpu_hour"),
        ({"currency": "euro"}, "currency"),
        ({"first_minute": 60, "last_minute": 60}, "last_minute"),
        ({"last_minute": 1441}, "last_minute"),
        ({"effective_from": T0 - DAY}, "effective_from"),
    ],
)
def test_what_makes_no_price_is_refused(node: Node, spec: dict[str, Any], field: str) -> None:
    price = PriceSpec(**{"per_gpu_hour": Decimal(1), **spec})
    with clock.frozen(T0), pytest.raises(Invalid) as refused:
        price_set(actor=node.accepted_by, node_id=node.pk, price=price)
    assert list(refused.value.errors) == [field]


def test_only_admins_set_prices(node: Node) -> None:
    for someone in (people.person(), people.director(), people.auditor()):
        with pytest.raises(Forbidden):
            price_set(actor=someone, node_id=node.pk, price=PriceSpec(Decimal(1)))
