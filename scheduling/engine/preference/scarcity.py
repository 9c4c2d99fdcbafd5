"""What room is scarce: how likely it is that demand which can go nowhere else will need it.

This is the rule of revenue management for a seat (Littlewood, 1972): a unit of room is worth, to those who need just
this room, a unit times the chance that their demand exceeds what is left of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.model import MILLI, Ask
from scheduling.engine.preference.mix import Mix
from scheduling.engine.room import Bools, Card, Ints, Room

Floats = NDArray[np.float64]

_UNSURE = 0.1
"""Standard error of how much will come, as a part of it."""
_LOGISTIC = 1.702
"""The logistic curve at this scale is within 0.01 of the normal distribution."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """Nodes alike when they are empty."""

    card: Card
    devices: int
    cpus: int
    memory_bytes: int

    def could_hold(self, ask: Ask) -> bool:
        return (
            self.card.suits(ask)
            and self.devices >= ask.devices
            and self.cpus >= ask.cpus
            and self.memory_bytes >= ask.memory_bytes
        )


class Scarcity:
    """Chances that room is missed, by size and node type. Size 0 is any free GPU; size d > 0 is room for jobs of d
    whole GPUs on one node, of which a node with w wholly free GPUs has d · ⌊w / d⌋.

    Demand is grouped by the set of types that could hold it: a set's demand is all that fits into no type outside it.
    Jobs to come ask for ``demand`` times the room that is left, give or take a tenth; the chance that a set's demand
    exceeds its room is that of a normal distribution. A type has the largest chance of the sets that hold it."""

    def __init__(self, types: tuple[NodeType, ...], mix: Mix, demand: float = 1) -> None:
        self.types = types
        self._demand = demand
        asks = [(ask, weight, tuple(each.could_hold(ask) for each in types)) for ask, weight in mix.parts if ask.milli]
        asks = [(ask, weight, able) for ask, weight, able in asks if any(able)]
        self.sizes = (0, *sorted({ask.devices for ask, _weight, _able in asks if ask.milli >= MILLI}))
        sets = sorted({able for _ask, _weight, able in asks})
        self._sets: Bools = np.array(sets, dtype=np.bool_).reshape(len(sets), len(types))
        able = np.array([able for _ask, _weight, able in asks], dtype=np.bool_).reshape(len(asks), len(types))
        milli = np.array([ask.milli for ask, _weight, _able in asks], dtype=np.float64)
        weight = np.array([weight for _ask, weight, _able in asks], dtype=np.float64)
        inside = ~(able[:, None, :] & ~self._sets).any(axis=2)
        counts = np.array([milli >= size * MILLI for size in self.sizes]).reshape(len(self.sizes), len(asks))
        self._mean: Floats = (counts * (weight * milli)) @ inside
        self._variance: Floats = (counts * (weight * milli * milli)) @ inside
        self._per_job = float(weight @ milli)
        self._is_elsewhere = ~self._sets.all(axis=1)

    def chances(self, room: Room, row_type: Ints) -> Floats:
        """By size and type, between 0 and 1. ``row_type`` is the number of types for rows that take nothing."""
        chances = np.zeros((len(self.sizes), len(self.types) + 1))
        if not self._per_job:
            return chances
        left = self._left(room, row_type)
        jobs = self._demand * left[0].sum() / self._per_job
        demand = self._mean * jobs
        spread = np.sqrt(self._variance * jobs + (_UNSURE * demand) ** 2)
        over = (demand - left @ self._sets.T) / np.maximum(spread, 1e-9)
        chance = np.where(demand > 0, 1 / (1 + np.exp(-_LOGISTIC * np.clip(over, -20, 20))), 0)
        # At size 0, what could go anywhere makes no place dearer than another.
        chance[0] *= self._is_elsewhere
        chances[:, :-1] = (chance[:, :, None] * self._sets).max(axis=1)
        return chances

    def _left(self, room: Room, row_type: Ints) -> Floats:
        amounts = [np.maximum(room.free, 0).sum(axis=1)]
        amounts += [room.whole // size * (size * MILLI) for size in self.sizes[1:]]
        numbers = len(self.types) + 1
        return np.array([np.bincount(row_type, amount, numbers)[:-1] for amount in amounts])

    def cost(self, chances: Floats, types: Ints, whole: Ints, opened: Ints, milli: Ints) -> Floats:
        """Milli-GPU of demand expected to be lost where rows of these types, with so many devices wholly free, give
        ``milli``, of which ``opened`` devices were wholly free: the size that loses most counts."""
        cost: Floats = chances[0][types] * milli
        for at, size in enumerate(self.sizes[1:], start=1):
            spoilt = (whole // size - (whole - opened) // size) * (size * MILLI)
            cost = np.maximum(cost, chances[at][types] * spoilt)
        return cost


def types_of(room: Room) -> tuple[tuple[NodeType, ...], Ints]:
    """The types of the rows that take something new, and of each row its number; one more for the others."""
    of_rows = [
        NodeType(room.cards[card], devices, cpus, memory)
        for card, devices, cpus, memory in zip(
            room.row_card.tolist(),
            room.devices.tolist(),
            room.total_cpus[room.host].tolist(),
            room.total_memory[room.host].tolist(),
            strict=True,
        )
    ]
    open_rows = room.can_take.tolist()
    numbers: dict[NodeType, int] = {}
    for each, is_open in zip(of_rows, open_rows, strict=True):
        if is_open:
            numbers.setdefault(each, len(numbers))
    rows = [numbers[each] if is_open else len(numbers) for each, is_open in zip(of_rows, open_rows, strict=True)]
    return tuple(numbers), np.array(rows, dtype=np.int64)
