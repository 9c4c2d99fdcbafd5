"""GPU time by day of the organisation. Pure but for the organisation's zone."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from kernel.calendar import day_bounds, local_day

MICRO = 1_000_000


def by_day(start: datetime, end: datetime) -> Iterator[tuple[date, datetime, datetime]]:
    """``[start, end)`` cut at the organisation's midnights, in order and without a gap. Empty if end ≤ start."""
    at = start
    while at < end:
        day = local_day(at)
        until = min(end, day_bounds(day).end or end)
        yield day, at, until
        at = until


def milli_gpu_seconds(milli: int, origin: datetime, start: datetime, end: datetime) -> int:
    """Whole milli-GPU-seconds of ``[start, end)``, rounded by what has run since ``origin``: parts add up to the
    whole, whatever the cuts."""
    return _whole(milli, end - origin) - _whole(milli, start - origin)


def _whole(milli: int, span: timedelta) -> int:
    micros = span // timedelta(microseconds=1)
    return milli * micros // MICRO
