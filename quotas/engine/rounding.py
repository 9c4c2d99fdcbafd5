"""From a vertex of fractions to whole granules that use up the capacity.

Everybody gets its amounts rounded down. Who is more than one granule below its entitlement is raised first, worst
first; what is left is handed out from the lowest level up until no project could take one more granule.
"""

import heapq
from dataclasses import dataclass, field

import numpy as np

from quotas.engine.fairness import level_of
from quotas.engine.program import Floats, Program

_CLOSE = 1e-6
"""A fraction so near to a whole granule is one; an amount so near to a bound has reached it."""

_DIGITS = 12
"""Of two levels that are compared: beyond them lie the errors of the arithmetic, which would decide between equals."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """Whole GPUs per pair; ``exceptions`` are the projects left more than one granule below their entitlement."""

    gpus: Floats
    exceptions: tuple[int, ...]


def round_down_and_hand_out(program: Program, gpus: Floats, entitlement: Floats) -> Rounded:
    """``gpus`` per pair is a vertex of the movement programme."""
    granule = program.granularity[program.project]
    down = np.floor(gpus / granule + _CLOSE) * granule
    hand = _Hand(program, np.clip(down, program.least, program.most))
    owed = entitlement - program.granularity  # a GPU of the best model counts 1
    hand.raise_to(owed)
    hand.hand_out()
    below = owed - program.effective(hand.gpus)
    return Rounded(hand.gpus, tuple(int(place) for place in np.flatnonzero(below > _CLOSE)))


def hand_out(program: Program, gpus: Floats) -> Floats:
    """Whole GPUs with all that is left handed out to the lowest levels first."""
    hand = _Hand(program, gpus.copy())
    hand.hand_out()
    return hand.gpus


@dataclass(slots=True)
class _Hand:
    """Gives granules one by one; knows what is left of each model and of each project's total."""

    program: Program
    gpus: Floats
    left: list[float] = field(init=False)
    room: list[float] = field(init=False)
    effective: Floats = field(init=False)
    first: list[int] = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        self.left = (program.usable - program.by_model(self.gpus)).tolist()
        self.room = (program.total - program.by_project(self.gpus)).tolist()
        self.effective = program.effective(self.gpus)
        self.first = program.first_pairs()

    def raise_to(self, owed: Floats) -> None:
        """Give granules to those below what is owed, the worst first, counted in their own granules."""
        size, rank = self.program.granularity, self.program.rank.tolist()
        waiting = [
            (-(owed[place] - self.effective[place]) / size[place], rank[place], int(place))
            for place in np.flatnonzero(owed - self.effective > _CLOSE)
        ]
        heapq.heapify(waiting)
        while waiting:
            _worst, _rank, place = heapq.heappop(waiting)
            if not self.give(place):
                continue
            missing = owed[place] - self.effective[place]
            if missing > _CLOSE:
                heapq.heappush(waiting, (-missing / size[place], rank[place], place))

    def hand_out(self) -> None:
        """Give granules to the lowest level of the earliest turn until nobody can take one; among equals, by id."""
        level, turn, rank = level_of(self.program, self.effective), self.program.turn, self.program.rank.tolist()
        waiting = [
            (int(turn[place]), round(float(level[place]), _DIGITS), rank[place], place)
            for place in range(self.program.projects)
        ]
        heapq.heapify(waiting)
        rate = np.where(self.program.full > 0, self.program.full, _CLOSE) * self.program.weight
        while waiting:
            of_turn, _lowest, _rank, place = heapq.heappop(waiting)
            if self.give(place):
                reached = min(self.effective[place] / rate[place], 1.0 / self.program.weight[place])
                heapq.heappush(waiting, (of_turn, round(float(reached), _DIGITS), rank[place], place))

    def give(self, place: int) -> bool:
        """One granule of the best model that has one left, within the project's bounds; whether there was one."""
        program, granule = self.program, self.program.granularity[place]
        if self.room[place] < granule:
            return False
        for pair in range(self.first[place], self.first[place + 1]):
            model = program.model[pair]
            fits = self.gpus[pair] + granule <= program.most[pair] and self.left[model] >= granule
            if fits and program.suitability[pair] > 0:
                self.gpus[pair] += granule
                self.left[model] -= granule
                self.room[place] -= granule
                self.effective[place] += granule * program.suitability[pair]
                return True
        return False
