"""Capacity, reserve and what is usable of them, over time. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kernel.intervals import Interval

ALL = 10_000
"""Basis points of the whole."""

DatedAmount = tuple[Interval, int]


def reserve_gpus(capacity: int, basis_points: int) -> int:
    """The emergency reserve in GPUs, rounded up to whole ones (INV3)."""
    return -(-capacity * basis_points // ALL)


@dataclass(frozen=True, slots=True)
class Capacity:
    """Whole GPUs of one model at one instant: accepted capacity, and the emergency reserve in it."""

    capacity: int
    reserve: int

    @property
    def usable(self) -> int:
        """What ordinary guarantees may add up to (QUO3)."""
        return self.capacity - self.reserve


def sweep(streams: Sequence[Iterable[DatedAmount]], within: Interval) -> list[tuple[datetime, tuple[int, ...]]]:
    """The sum of each stream at the start of ``within`` and at every instant in it at which an amount changes.

    One pass over the sorted edges, so that a model with thousands of dated rows stays cheap.
    """
    changes: dict[datetime, list[int]] = {within.start: [0] * len(streams)}
    for index, stream in enumerate(streams):
        for interval, amount in stream:
            part = interval.intersection(within)
            if part is None:
                continue
            changes.setdefault(part.start, [0] * len(streams))[index] += amount
            if part.end is not None and within.contains(part.end):
                changes.setdefault(part.end, [0] * len(streams))[index] -= amount
    sums = [0] * len(streams)
    swept = []
    for at in sorted(changes):
        sums = [total + change for total, change in zip(sums, changes[at], strict=True)]
        swept.append((at, tuple(sums)))
    return swept
