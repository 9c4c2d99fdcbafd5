"""Price per GPU-hour by date and by minute of the organisation's day (INV4). Pure.

A minute of the day is what the wall clock shows: when clocks go back, the repeated hour has its price twice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from kernel.intervals import Interval

MINUTES_OF_DAY = 1440
_GRID = timedelta(minutes=30)
"""Every change of a zone's offset falls on this grid of UTC."""


@dataclass(frozen=True, slots=True)
class Price:
    per_gpu_hour: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class DatedPrice:
    """``price`` in force during an interval, at minutes ``[first, last)`` of the day."""

    during: Interval
    first: int
    last: int
    price: Price


@dataclass(frozen=True, slots=True)
class PriceSegment:
    """A stretch of time with one price; None: no price is set."""

    during: Interval
    price: Price | None


def price_of(prices: Iterable[DatedPrice], at: datetime, zone: ZoneInfo) -> Price | None:
    """The price in force at an instant."""
    local = at.astimezone(zone)
    minute = local.hour * 60 + local.minute
    for dated in prices:
        if dated.during.contains(at) and dated.first <= minute < dated.last:
            return dated.price
    return None


def segments(prices: Iterable[DatedPrice], start: datetime, end: datetime, zone: ZoneInfo) -> list[PriceSegment]:
    """``[start, end)`` cut where the price changes; the parts are whole, in order and without a gap."""
    prices = list(prices)
    edges = sorted({start, *(at for at in _edges(prices, start, end, zone) if start < at < end)})
    cut: list[PriceSegment] = []
    for at, until in zip(edges, [*edges[1:], end], strict=True):
        price = price_of(prices, at, zone)
        if cut and cut[-1].price == price:
            at = cut.pop().during.start
        cut.append(PriceSegment(Interval(at, until), price))
    return cut


def _edges(prices: list[DatedPrice], start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Every instant at which the price may change, and some at which it does not."""
    for dated in prices:
        yield dated.during.start
        if dated.during.end is not None:
            yield dated.during.end
    minutes = {minute for dated in prices for minute in (dated.first, dated.last)}
    day, last_day = start.astimezone(zone).date(), end.astimezone(zone).date()
    while day <= last_day:
        midnight = datetime.combine(day, time.min, zone)
        tomorrow = datetime.combine(day + timedelta(days=1), time.min, zone)
        for minute in minutes:
            wall = (datetime.combine(day, time.min) + timedelta(minutes=minute)).replace(tzinfo=zone)
            yield wall.astimezone(UTC)
        if midnight.utcoffset() != tomorrow.utcoffset():
            yield from _grid(midnight.astimezone(UTC), tomorrow.astimezone(UTC), minutes)
        day += timedelta(days=1)


def _grid(start: datetime, end: datetime, minutes: set[int]) -> Iterator[datetime]:
    """On a day whose clock jumps: every half hour, and the minutes of each half hour that a price names."""
    offsets = {timedelta(minutes=minute % 30) for minute in minutes} | {timedelta()}
    at = start
    while at < end:
        yield from (at + offset for offset in offsets)
        at += _GRID
