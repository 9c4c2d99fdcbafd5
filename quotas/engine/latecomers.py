"""Who gets less than it asks for because a model was used up before: would more of the model reach it?

A project is a *latecomer* where nothing else says what would give it more: those with a lower level, or of an earlier
turn, have used up what it could use. More of the model goes to them first. It reaches the latecomer for certain if,
with K granules more, all of earlier turns could have all that they can attain, everybody of its turn the latecomer's
level, and the latecomer a little beyond: then who stands in its way has a higher level, and would give way. What is
not shown so is not claimed.
"""

from dataclasses import dataclass

import numpy as np

from quotas.engine.claims import LITTLE, Claims
from quotas.engine.overload import NOTHING, OverloadProgram
from quotas.engine.program import Floats, Ints, Program

_LESS = 1e-6
"""Part of the full request that may be missing without a reason."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The bottleneck that used a model up: the model's price there, the projects that rose, what each had, and what
    one more effective unit costs each.

    At these prices what they are to have more costs no more than the new GPUs are worth, or there is no way to it.
    """

    price: float
    projects: Ints
    amount: Floats
    cost: Floats


@dataclass(frozen=True, slots=True)
class Latecomers:
    """Looks at one turn when all its projects are settled, at ``amount``; it leaves the bounds as they were."""

    program: Program
    lp: OverloadProgram
    claims: Claims
    turn: int
    amount: Floats

    def note(self, exhausted: dict[int, Exhausted]) -> None:
        """Add to the claims each pair whose project more of the model would reach."""
        program = self.program
        late = (program.turn == self.turn) & (program.full > 0) & (self.amount < program.full * (1 - _LESS))
        told = [*self.claims.total, *program.project[[*self.claims.own, *self.claims.capacity]].tolist()]
        late[told] = False
        late &= self._reach() - LITTLE > self.amount
        closed = np.flatnonzero(self.lp.closed)
        if not late.any():
            return
        self.lp.set_maxima(closed, program.most[closed])
        for model, found in exhausted.items():
            wants = (program.model == model) & late[program.project] & (program.suitability > 0)
            pairs = np.flatnonzero(wants & (program.most > program.least) & ~program.is_cut[program.model])
            self.claims.capacity.update(pairs[self._reached(program.project[pairs], model, found)].tolist())
        self.lp.set_maxima(closed, self.lp.most[closed])

    def _reached(self, projects: Ints, model: int, found: Exhausted) -> Ints:
        """Places of those that more of the model reaches. The higher half is given up until the rest goes through."""
        program = self.program
        level = self.amount[projects] / (program.full * program.weight)[projects]
        places = np.argsort(level, kind="stable")
        while len(places):
            gain = program.models * program.granularity[projects[places]].min() - program.lacking[model]
            if gain > 0 and self._goes_through(projects[places], float(level[places[-1]]), model, float(gain), found):
                break
            places = places[: len(places) // 2]
        return places

    def _goes_through(self, party: Ints, level: float, model: int, gain: float, found: Exhausted) -> bool:
        program = self.program
        wanted = self._demand(level)
        if found.cost @ (wanted[found.projects] - found.amount) > found.price * gain:
            return False  # without asking the solver, which takes far longer
        wanted[party] = np.minimum(wanted[party], self._reach()[party] - LITTLE) + LITTLE
        everybody = np.arange(program.projects)
        self.lp.set_usable(program.usable + np.where(np.arange(program.models) == model, gain, 0.0))
        self.lp.ask(everybody, wanted)
        is_enough = self.lp.solve().amount <= NOTHING
        self.lp.set_usable(program.usable)
        return is_enough

    def _demand(self, level: float) -> Floats:
        """All for earlier turns, this level for ours, the floors for later ones."""
        program, most = self.program, self._reach()
        ours = np.clip(program.full * program.weight * level, self.lp.floor, most)
        return np.where(program.turn < self.turn, most, np.where(program.turn == self.turn, ours, self.lp.floor))

    def _reach(self) -> Floats:
        """What each could have if nobody else were there."""
        return np.minimum(self.program.attainable(self.program.most), np.maximum(self.program.full, self.lp.floor))
