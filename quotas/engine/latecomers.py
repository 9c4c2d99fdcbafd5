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
class Barrier:
    """What the prices of one solve show of all others: when these projects want other amounts, the overload is at
    least ``overload`` and what the difference costs, less the worth of the new GPUs.
    """

    overload: float
    prices: Floats
    projects: Ints
    amount: Floats
    cost: Floats

    def bars(self, wanted: Floats, model: int, gain: float) -> bool:
        least = self.overload + float(self.cost @ (wanted[self.projects] - self.amount))
        return bool(least > self.prices[model] * gain + NOTHING)


@dataclass(frozen=True, slots=True)
class Latecomers:
    """Looks at one turn when all its projects are settled, at ``amount``; it leaves the bounds as they were."""

    program: Program
    lp: OverloadProgram
    claims: Claims
    turn: int
    amount: Floats

    def note(self, barriers: list[Barrier]) -> None:
        """Add to the claims each pair whose project more of the model would reach. ``barriers`` grow by what is tried:
        they save most of the solves.
        """
        program = self.program
        late = (program.turn == self.turn) & (program.full > 0) & (self.amount < program.full * (1 - _LESS))
        told = [*self.claims.total, *program.project[[*self.claims.own, *self.claims.capacity]].tolist()]
        late[told] = False
        late &= self._reach() - LITTLE > self.amount
        closed = np.flatnonzero(self.lp.closed)
        if not late.any():
            return
        self.lp.set_maxima(closed, program.most[closed])
        for model in sorted(self.claims.used_up):
            wants = (program.model == model) & late[program.project] & (program.suitability > 0)
            pairs = np.flatnonzero(wants & (program.most > program.least) & ~program.is_cut[program.model])
            self.claims.capacity.update(pairs[self._reached(program.project[pairs], model, barriers)].tolist())
        self.lp.set_maxima(closed, self.lp.most[closed])

    def _reached(self, projects: Ints, model: int, barriers: list[Barrier]) -> Ints:
        """Places of those that more of the model reaches. The higher half is given up until the rest goes through."""
        program = self.program
        level = self.amount[projects] / (program.full * program.weight)[projects]
        places = np.argsort(level, kind="stable")
        while len(places):
            gain = program.models * program.granularity[projects[places]].min() - program.lacking[model]
            wanted = self._wanted(projects[places], float(level[places[-1]]))
            if gain > 0 and not any(barrier.bars(wanted, model, gain) for barrier in barriers):
                barriers.append(self._tried(wanted, model, float(gain)))
                if not barriers[-1].bars(wanted, model, gain):
                    break
            places = places[: len(places) // 2]
        return places

    def _tried(self, wanted: Floats, model: int, gain: float) -> Barrier:
        """What the solver says of these amounts, with that much more of the model."""
        program, everybody = self.program, np.arange(self.program.projects)
        self.lp.set_usable(program.usable + np.where(np.arange(program.models) == model, gain, 0.0))
        self.lp.ask(everybody, wanted)
        dual = self.lp.solve()
        self.lp.set_usable(program.usable)
        return Barrier(dual.amount + float(dual.prices[model]) * gain, dual.prices, everybody, wanted, dual.marginal)

    def _wanted(self, party: Ints, level: float) -> Floats:
        """All for earlier turns, this level for ours and a little more for the party, the floors for later ones."""
        program, most = self.program, self._reach()
        wanted = np.clip(program.full * program.weight * level, self.lp.floor, most)
        wanted[party] = np.minimum(wanted[party], most[party] - LITTLE) + LITTLE
        return np.where(program.turn < self.turn, most, np.where(program.turn == self.turn, wanted, self.lp.floor))

    def _reach(self) -> Floats:
        """What each could have if nobody else were there."""
        return np.minimum(self.program.attainable(self.program.most), np.maximum(self.program.full, self.lp.floor))
