"""Whether what is asked fits, day by day of the organisation: free, asked, and which days are tight. Pure.

A day has free what is free at its worst moment within the time asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby

from inventory.capacity import DatedAmount, reserve_gpus, sweep
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from quotas.ledger import ModelFacts
from quotas.raises import Part

OPEN_DAYS = 90
"""So many days ahead are looked at of what has no end."""
MOST_DAYS = 5 * 366 + 2
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DayFit:
    """One day, in whole GPUs, at its tightest moment. ``free``: what can be promised beside all promises."""

    day: date
    free: int
    asked: int
    usable: int

    @property
    def fits(self) -> bool:
        return self.asked <= max(0, self.free)

    @property
    def left(self) -> int:
        """What stays free with it."""
        return max(0, self.free - self.asked)


@dataclass(frozen=True, slots=True)
class Run:
    """Days in a row on which it does not fit; ``free`` at the worst of them."""

    first: date
    last: date
    free: int
    asked: int

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1


@dataclass(frozen=True, slots=True)
class Fit:
    """``days``: of the time asked for, or the first of them where it has no end. ``most``: GPUs asked at most."""

    during: Interval
    days: tuple[DayFit, ...]

    @property
    def most(self) -> int:
        return max(day.asked for day in self.days)

    @property
    def is_open(self) -> bool:
        return self.during.end is None

    @property
    def count(self) -> int:
        return len(self.days)

    @property
    def fitting(self) -> int:
        return sum(day.fits for day in self.days)

    @property
    def fits(self) -> bool:
        return self.fitting == self.count

    @property
    def tight(self) -> tuple[Run, ...]:
        """The stretches that do not fit, in order."""
        runs = []
        for fits, group in groupby(self.days, key=lambda day: day.fits):
            found = list(group)
            if not fits:
                worst = min(found, key=lambda day: day.free - day.asked)
                runs.append(Run(found[0].day, found[-1].day, max(0, worst.free), worst.asked))
        return tuple(runs)

    @property
    def fits_throughout(self) -> int:
        """How much of what is asked on top fits on every day."""
        return max(0, self.most + min(0, *(day.free - day.asked for day in self.days)))

    @property
    def longest(self) -> tuple[date, date] | None:
        """The longest stretch of days that fits, the earliest of several; None where no day does."""
        best: tuple[date, date] | None = None
        for fits, group in groupby(self.days, key=lambda day: day.fits):
            found = list(group)
            if fits and (best is None or len(found) > (best[1] - best[0]).days + 1):
                best = (found[0].day, found[-1].day)
        return best


def fit_of(facts: ModelFacts, added: Sequence[Part], during: Interval) -> Fit:
    """``added``: what is asked on top of what is held, dated."""
    until = during.end or day_bounds(local_day(during.start) + (OPEN_DAYS - 1) * DAY).end
    within = Interval(during.start, until)
    streams = (facts.gpus, facts.reserve, facts.promised, _dated(added))
    swept = [
        (at, gpus - reserve_gpus(gpus, points), promised, asked)
        for at, (gpus, points, promised, asked) in sweep(streams, within)
    ]
    ends: list[datetime | None] = [at for at, *_sums in swept[1:]]
    by_day: dict[date, DayFit] = {}
    for (at, usable, promised, asked), end in zip(swept, [*ends, within.end], strict=True):
        for day in _days(at, end or at):
            _tightened(by_day, DayFit(day, usable - promised, asked, usable))
    return Fit(during, tuple(by_day[day] for day in sorted(by_day)))


def _tightened(by_day: dict[date, DayFit], other: DayFit) -> None:
    known = by_day.get(other.day)
    if known is None or other.free - other.asked < known.free - known.asked:
        by_day[other.day] = other


def _dated(added: Sequence[Part]) -> list[DatedAmount]:
    return [(part.during, part.guaranteed) for part in added]


def _days(start: datetime, end: datetime) -> list[date]:
    """The days that ``[start, end)`` touches."""
    first = local_day(start)
    last = local_day(max(start, end - timedelta(microseconds=1)))
    return [first + index * DAY for index in range(min((last - first).days + 1, MOST_DAYS))]
