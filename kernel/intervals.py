"""Half-open intervals ``[start, end)`` of instants; ``end`` None is open. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Interval:
    start: datetime
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"an interval ends after it starts: {self.start} – {self.end}")

    def contains(self, at: datetime) -> bool:
        return self.start <= at and (self.end is None or at < self.end)

    def overlaps(self, other: "Interval") -> bool:
        return (other.end is None or self.start < other.end) and (self.end is None or other.start < self.end)

    def intersection(self, other: "Interval") -> "Interval | None":
        start = max(self.start, other.start)
        ends = [end for end in (self.end, other.end) if end is not None]
        end = min(ends) if ends else None
        return None if end is not None and end <= start else Interval(start, end)

    def seconds(self, until: datetime) -> float:
        """Length in seconds, an open end counted up to ``until``; never negative."""
        end = until if self.end is None else min(self.end, until)
        return max(0.0, (end - self.start).total_seconds())


def peak(steps: Iterable[tuple[Interval, int]], within: Interval) -> tuple[int, datetime]:
    """The highest sum of the amounts in force at one instant of ``within``, and the first such instant."""
    changes: dict[datetime, int] = {within.start: 0}
    for interval, amount in steps:
        part = interval.intersection(within)
        if part is None:
            continue
        changes[part.start] = changes.get(part.start, 0) + amount
        if part.end is not None:
            changes[part.end] = changes.get(part.end, 0) - amount
    best, best_at, total = None, within.start, 0
    for at in sorted(changes):
        total += changes[at]
        inside = within.end is None or at < within.end
        if inside and (best is None or total > best):
            best, best_at = total, at
    return best or 0, best_at
