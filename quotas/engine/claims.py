"""What would give a project more, checked while the levels rise.

- *capacity*: more of a model used up at a bottleneck goes first to who is blocked at the first bottleneck it is used
  up at.
  (``latecomers.py`` asks for those who come later.)
- *own maximum*, *total*: a project that has all its bounds allow, when the raised bound alone allows more of models
  that are not used up yet at its level. Who has a higher level, or a later turn, gives way to it.

Each is checked by raising the bound by up to K granules, K the number of models, and asking for what it then allows:
nothing may be overloaded. All candidates ask at once, since each needs the whole of its own raise; where that does
not go through, they ask in smaller parties, and who is stuck is left out. Of a model on which floors were cut, any
more goes to these floors, so nothing is claimed of it. Whose pins go beyond its request is not asked for its bounds:
the pins may already give what a higher bound would.
"""

from dataclasses import dataclass, field

import numpy as np

from quotas.engine.overload import NOTHING, OverloadProgram
from quotas.engine.program import Flags, Floats, Ints, Program

LITTLE = 1e-5
"""Effective GPUs; what is asked for in addition where any more would do."""
_PART = 0.99
"""Of a wish that is asked for: the rest is for the errors of the arithmetic."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Projects that rise together: what each has just below the level, and what it could attain at most."""

    projects: Ints
    amount: Floats
    is_full: Flags


@dataclass(slots=True)
class Claims:
    """For these projects a higher total would give more; for these pairs a higher request, or more of the model."""

    total: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)
    capacity: set[int] = field(default_factory=set)
    used_up: set[int] = field(default_factory=set)


class Checker:
    """Notes true claims at each rise; it leaves the programme's bounds as they were."""

    def __init__(self, program: Program, lp: OverloadProgram, tolerance: float) -> None:
        self.program = program
        self._slack = tolerance / max(1.0 - tolerance, LITTLE)
        self._granules = program.models * program.granularity
        self.lp = lp
        self.claims = Claims(used_up=set(np.flatnonzero(program.is_cut).tolist()))
        self._rank = program.before(np.ones(program.pairs)).astype(np.intp)

    def full(self, asking: Asking) -> None:
        """Note what would help those who have all they can attain."""
        program = self.program
        is_full = np.zeros(program.projects, dtype=bool)
        is_full[asking.projects[asking.is_full]] = True
        is_full &= ~program.is_beyond
        is_cut = program.is_cut[program.model] & (program.suitability > 0)
        totals = is_full & (program.by_project(is_cut.astype(float)) == 0)
        self.claims.total.update(self._by_total(totals, asking))
        pairs = is_full[program.project] & ~self.lp.closed & ~is_cut & (program.suitability > 0)
        parties = [pairs & (self._rank == rank) for rank in range(int(self._rank.max(initial=-1)) + 1)]
        for party in parties:
            self.claims.own.update(self._by_own_maximum(party, asking))

    def blocked(self, asking: Asking, blocked: Ints, prices: Floats) -> None:
        """Note of which used-up models more would help who is blocked."""
        program, priced = self.program, set(np.flatnonzero(prices > 0).tolist())
        more = np.zeros(program.projects)
        more[blocked] = LITTLE
        has_room = program.attainable(self.lp.most)[asking.projects] >= asking.amount + LITTLE
        blocked = np.intersect1d(blocked, asking.projects[has_room])
        gain = np.maximum(0.0, program.models - program.lacking)
        for model in sorted(priced - self.claims.used_up):
            raised = program.usable + np.where(np.arange(program.models) == model, gain, 0.0)
            self.lp.set_usable(raised)
            helped = self._helped(asking, blocked, more)
            self.lp.set_usable(program.usable)
            uses = np.isin(program.project, helped) & (program.model == model) & (program.suitability > 0)
            self.claims.capacity.update(np.flatnonzero(uses & (program.most > program.least)).tolist())
        self.claims.used_up |= priced

    def _by_total(self, may: Flags, asking: Asking) -> list[int]:
        program = self.program
        gain = program.attainable(self.lp.most, program.total + self._granules) - program.attainable(self.lp.most)
        wish = self._wish(asking)
        projects = np.flatnonzero(may & (gain > wish))
        raised = program.total[projects] + (self._granules * wish)[projects] / gain[projects]
        self.lp.set_totals(projects, raised)
        helped = self._helped(asking, projects, wish)
        self.lp.set_totals(projects, program.total[projects])
        return [int(project) for project in helped]

    def _by_own_maximum(self, may: Flags, asking: Asking) -> list[int]:
        """At most one pair of each project."""
        program, most = self.program, self.lp.most
        granules = self._granules[program.project]
        gain = program.attainable(np.where(may, most + granules, most)) - program.attainable(most)
        worth = np.ones(program.projects)  # a model of which it may have none yet can be far better than all others
        np.maximum.at(worth, program.project[may], program.suitability[may])
        wish = self._wish(asking) + LITTLE * (worth - 1.0)
        pairs = np.flatnonzero(may & (gain > wish)[program.project])
        projects = program.project[pairs]
        self.lp.set_maxima(pairs, most[pairs] + granules[pairs] * wish[projects] / gain[projects])
        helped = self._helped(asking, projects, wish)
        self.lp.set_maxima(pairs, most[pairs])
        return [int(pair) for pair in pairs[np.isin(projects, helped)]]

    def _wish(self, asking: Asking) -> Floats:
        """What each must gain so that its entitlement rises, too, whatever the tolerance of movement takes from it.

        A bound is then raised by the part of K granules that allows just this: what it allows is concave in the raise.
        """
        wish = np.full(self.program.projects, LITTLE)
        wish[asking.projects] += asking.amount * self._slack
        return wish

    def _helped(self, asking: Asking, projects: Ints, more: Floats) -> Ints:
        """Those of the projects that can have that much more, all others as they are just below the level."""
        wanted = np.zeros(self.program.projects)
        while len(projects):
            wanted[:] = 0.0
            wanted[projects] = _PART * more[projects]
            self.lp.ask(asking.projects, asking.amount + wanted[asking.projects])
            dual = self.lp.solve()
            if dual.amount <= NOTHING:
                break
            is_stuck = dual.marginal[projects] > NOTHING
            projects = projects[~is_stuck] if is_stuck.any() else projects[:0]
        return projects
