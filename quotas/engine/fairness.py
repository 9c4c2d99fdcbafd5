"""Exact weighted max-min shares by water-filling.

All projects of a turn rise together: at level t each demands ``full × min(weight × t, 1)``, bounded by what it can
attain. A *bottleneck* is the largest t without overload. It is found from above by Newton's method: the overload's
dual gives prices, and at these prices the demands of a lower t cost no more than what there is; that t is the next
guess. It never falls below the true one and there are finitely many duals, so the search ends, exactly. Who demands
at a price is then *blocked* and settled at t. The others take nothing of the priced models in any optimum
(complementary slackness), so these are closed to them, and the rest rises on. Each bottleneck exhausts a model, so
there are at most as many as models in a turn.

Sources: max-min fairness by progressive filling (Bertsekas and Gallager, Data Networks, 1987); water-filling over
heterogeneous accelerators (Gavel, OSDI 2020); one linear programme a bottleneck (Soroush, NSDI 2024).
"""

from dataclasses import dataclass, field

import numpy as np

from quotas.engine.claims import Asking, Checker, Claims
from quotas.engine.demand import SAME, Demand
from quotas.engine.latecomers import Barrier, Latecomers
from quotas.engine.overload import NOTHING, Overload, OverloadProgram
from quotas.engine.program import Floats, Ints, Program

_JUST = 1e-3
"""How far below a bottleneck one looks at what could still be had there, relatively."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """Where a turn could rise no further together.

    ``prices`` is what one more GPU of each model would raise the level by; ``blocked`` are the projects settled here.
    """

    turn: int
    level: float
    prices: Floats
    blocked: Ints


@dataclass(frozen=True, slots=True)
class Shares:
    """``effective`` is the exact amount of each project, ``level`` its exact level (0 for who can use nothing).

    ``claims`` say what would have given more.
    ``prices`` of the last solve may start the next one; they never change its answer.
    """

    effective: Floats
    level: Floats
    bottlenecks: tuple[Bottleneck, ...]
    claims: Claims
    prices: Floats
    solves: int

    def first_prices(self) -> Floats:
        """Each model's price at the first bottleneck that uses it up, 0 where none does."""
        price = np.zeros(len(self.prices))
        for found in reversed(self.bottlenecks):
            price = np.where(found.prices > 0, found.prices, price)
        return price


def fair_shares(program: Program, lp: OverloadProgram, tolerance: float, *, start: Floats | None = None) -> Shares:
    """The whole ordered vector of levels, turn by turn; ``lp`` is left with every project's share as its demand.

    ``tolerance`` is what movement may take of a share, for the claims. Raises ``OutOfTime``, ``Unsolved``.
    """
    water = _Water(program, lp, tolerance)
    water.prices = np.ones(program.models) if start is None else start
    for turn in range(program.turns):
        water.fill(turn)
    level = level_of(program, water.amount)
    return Shares(water.amount, level, tuple(water.found), water.checker.claims, water.prices, lp.solves)


def level_of(program: Program, effective: Floats) -> Floats:
    """Effective amount per unit of full request and weight, at most 1 / weight; 0 where nothing can be used."""
    can = program.full > 0
    level = np.where(can, effective / np.where(can, program.full * program.weight, 1.0), 0.0)
    return np.minimum(level, 1.0 / program.weight)


@dataclass(slots=True)
class _Water:
    program: Program
    lp: OverloadProgram
    tolerance: float
    found: list[Bottleneck] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    amount: Floats = field(init=False)
    attainable: Floats = field(init=False)
    prices: Floats = field(init=False)
    checker: Checker = field(init=False)

    def __post_init__(self) -> None:
        self.checker = Checker(self.program, self.lp, self.tolerance)
        self.amount = self.lp.floor.copy()
        self.attainable = self._attainable()

    def fill(self, turn: int) -> None:
        """Raise the projects of this turn as far as they go, holding everything settled."""
        free = np.flatnonzero((self.program.turn == turn) & (self.program.full > 0))
        while len(free):
            free = self._rise(turn, free)
        Latecomers(self.program, self.lp, self.checker.claims, turn, self.amount).note(self.barriers)
        self.lp.ask(np.arange(self.program.projects), self.amount)

    def _rise(self, turn: int, free: Ints) -> Ints:
        """Up to the next bottleneck; return who can rise further."""
        demand = self._demand(free)
        level, dual = self._bottleneck(demand)
        self.amount[free] = demand.at(level)
        just_below = level * (1 - _JUST) if dual else level
        asking = Asking(free, demand.at(just_below), demand.is_full(just_below))
        self.checker.full(asking)
        if dual is None:
            return free[:0]
        growth = demand.growth(level)
        is_settled = (dual.marginal[free] > NOTHING) & (demand.rate * level >= demand.floor - NOTHING)
        slope = float(dual.marginal[free] @ growth)
        raised = dual.prices / slope if slope > 0 else np.zeros_like(dual.prices)
        self.barriers.append(Barrier(0.0, dual.prices, free, self.amount[free], dual.marginal[free]))
        blocked = free[is_settled & (growth > 0)]
        self.checker.blocked(Asking(free, self.amount[free], asking.is_full), blocked, raised)
        self.found.append(Bottleneck(turn, level, raised, blocked))
        rest = free[~is_settled & ~demand.is_full(level)]
        self._close(np.flatnonzero(dual.prices > NOTHING), rest, turn)
        self.lp.ask(free, self.amount[free])
        return rest

    def _demand(self, projects: Ints) -> Demand:
        rate = self.program.full[projects] * self.program.weight[projects]
        return Demand(projects, rate, self.lp.floor[projects], self.attainable[projects])

    def _bottleneck(self, demand: Demand) -> tuple[float, Overload | None]:
        """The largest level without overload, and the dual that shows it; none if all get all they can attain."""
        level, shown = demand.top(), None
        self.lp.ask(demand.projects, demand.at(level))
        self.lp.start_from(self.prices)
        while True:
            dual = self.lp.solve()
            lower = demand.lowered(level, dual) if dual.amount > NOTHING else None
            if lower is None or lower >= level * (1 - SAME):
                return level, shown
            shown, self.prices, level = dual, dual.prices, lower
            self.lp.ask(demand.projects, demand.at(level))

    def _close(self, priced: Ints, rest: Ints, turn: int) -> None:
        """What a settled project pays for is used up: nobody who comes later gets any."""
        program = self.program
        later = program.turn > turn
        later[rest] = True
        pairs = later[program.project] & np.isin(program.model, priced)
        self.lp.close(np.flatnonzero(pairs))
        self.attainable = np.where(later, self._attainable(), self.attainable)

    def _attainable(self) -> Floats:
        """Bounded by the full request, unless floors or pins give more."""
        return np.minimum(self.program.attainable(self.lp.most), np.maximum(self.program.full, self.lp.floor))
