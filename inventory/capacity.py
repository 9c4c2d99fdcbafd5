"""Capacity, reserve and what is usable of them, over time. Pure."""

from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class CapacityStep:
    """In force from ``at`` until the next step."""

    at: datetime
    capacity: Capacity


def timeline(facts: Iterable[DatedAmount], reserves: Iterable[DatedAmount], within: Interval) -> list[CapacityStep]:
    """Capacity of one model through ``within``: one step at its start and one at each change after it."""
    facts, reserves = list(facts), list(reserves)
    steps: list[CapacityStep] = []
    for at in _changes([*facts, *reserves], within):
        gpus = sum(amount for interval, amount in facts if interval.contains(at))
        points = sum(amount for interval, amount in reserves if interval.contains(at))
        here = Capacity(gpus, reserve_gpus(gpus, points))
        if not steps or steps[-1].capacity != here:
            steps.append(CapacityStep(at, here))
    return steps


def _changes(facts: list[DatedAmount], within: Interval) -> list[datetime]:
    edges = {within.start}
    for interval, _amount in facts:
        edges.update(edge for edge in (interval.start, interval.end) if edge is not None and within.contains(edge))
    return sorted(edges)
