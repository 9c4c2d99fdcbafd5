"""The inflation experiment (Weng et al., USENIX ATC 2023): how much of a cluster can be handed out when jobs arrive one
by one, never leave, and one that fits nowhere is dropped.

Jobs sorted by name are shuffled, then drawn again with replacement until 130 % of the GPUs are asked for.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scheduling.engine.model import Ask, Node
from scheduling.engine.preference import Mix, Preference
from scheduling.engine.replay.openb import TraceJob
from scheduling.engine.room import Room, Spot

_FULL = 100
_UNTIL = 130
_PROJECT = 0


class Placer(Protocol):
    """What chooses the place of one arrival, None where it fits nowhere."""

    def __call__(self, room: Room, ask: Ask, project: int) -> Spot | None: ...


@dataclass(frozen=True, slots=True)
class Inflation:
    """``rates[a]`` is the mean allocation, in per cent of the GPUs, over the arrivals at which ``a`` per cent had been
    asked for."""

    rates: dict[int, float]
    arrivals: int
    dropped: int

    @property
    def allocation_rate_at_100(self) -> float:
        """Where no arrival comes that close to 100 per cent, as in a small cluster: at the last one before."""
        return self.rates[max((at for at in self.rates if at <= _FULL), default=min(self.rates))]


def run_inflation(
    nodes: Iterable[Node], jobs: Sequence[TraceJob], seed: int, placer: Placer | None = None
) -> Inflation:
    """The engine's own placement unless another is given. The mix it expects is the distribution of the given jobs.
    Raises ``ValueError`` where the nodes have no GPUs or the jobs ask for none."""
    room = Room(nodes)
    total = int(room.devices.sum()) * 1000
    asks = arrivals([job.ask for job in sorted(jobs, key=lambda job: job.name)], total, seed)
    place = placer or EnginePlacer(Mix.of(job.ask for job in jobs))
    asked = placed = dropped = 0
    sums: dict[int, list[float]] = {}
    for ask in asks:
        asked += ask.milli
        spot = place(room, ask, _PROJECT)
        if spot is None:
            dropped += 1
        else:
            room.take(spot, ask, _PROJECT)
            placed += ask.milli
        sums.setdefault(round(100 * asked / total), []).append(100 * placed / total)
    return Inflation({at: sum(rates) / len(rates) for at, rates in sums.items()}, len(asks), dropped)


class EnginePlacer:
    """The engine's rule."""

    def __init__(self, mix: Mix, demand: float = 1) -> None:
        self._preference = Preference(mix, demand)

    def __call__(self, room: Room, ask: Ask, project: int) -> Spot | None:
        rows = room.fits(ask, project).nonzero()[0]
        best = self._preference.best(room, ask, rows, 1)
        return room.spot(int(best[0]), ask, project) if len(best) else None


def arrivals(asks: Sequence[Ask], total_milli: int, seed: int, until: int = _UNTIL) -> list[Ask]:
    """The order in which they come."""
    if not total_milli or not any(ask.milli for ask in asks):
        raise ValueError("there must be GPUs, and jobs that ask for them")
    drawn = random.Random(seed)  # noqa: S311 - a reproducible order, not a secret
    order = list(asks)
    drawn.shuffle(order)
    asked = sum(ask.milli for ask in order)
    while 100 * asked < until * total_milli:
        order.append(drawn.choice(asks))
        asked += order[-1].milli
    return order
