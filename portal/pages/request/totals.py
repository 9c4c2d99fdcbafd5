"""Between what a person types (more than now) and what is asked for (new totals). Pure."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from quotas.raises import Part
from quotas.requests.asking import Asked, Holdings


@dataclass(frozen=True, slots=True)
class Held:
    """What the project holds when the time asked for begins; ``limit`` None: no limit."""

    guaranteed: int = 0
    limit: int | None = 0

    def total(self, more: int) -> int:
        return self.guaranteed + more

    def limit_total(self, more: int | None, guaranteed: int) -> int | None:
        """Left empty it is what it was, or as much as is guaranteed."""
        if self.limit is None:
            return None
        return max(self.limit, guaranteed) if more is None else self.limit + more

    def more(self, total: int | None) -> int | None:
        return None if total is None else total - self.guaranteed

    def limit_more(self, total: int | None, guaranteed: int | None) -> int | None:
        """What is typed for this limit; None where leaving it empty says the same."""
        if total is None or self.limit is None or total == max(self.limit, guaranteed or 0):
            return None
        return total - self.limit

    @property
    def mark(self) -> str:
        """As the form carries it along, to tell whether it is still so."""
        return f"{self.guaranteed}:{'' if self.limit is None else self.limit}"


def held_of(holdings: Holdings, asked: Asked, now: datetime) -> Held:
    """What ``asked`` is compared with, at the start of its time: the whole for a raise, else the base."""
    window = asked.window(now) or Interval(now)
    parts: list[Part] = holdings.replaced_through(asked, window)
    return Held(parts[0].guaranteed, parts[0].shown_limit)


def starts_at(day: date | None, today: date) -> datetime | None:
    """Today, or nothing, is as soon as it is granted."""
    return None if day is None or day == today else day_bounds(day).start


def ends_at(day: date | None) -> datetime | None:
    """A last day that is still in it."""
    return None if day is None else day_bounds(day).end


def first_day(at: datetime | None) -> date | None:
    return None if at is None else local_day(at)


def last_day(at: datetime | None) -> date | None:
    return None if at is None else local_day(at - timedelta(microseconds=1))
