"""The small linear programme behind the fair shares: how far do given demands overload the GPU models?

Variables are the GPUs of each pair above its floor, and the overload of each model; rows are each project's demand,
each project's total, each model's capacity. The dual of a demand is what one more effective unit costs in overload,
the dual of a capacity is the *price* of the model. Only demands and bounds change between solves, so each starts
from the last basis.
"""

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np

from quotas.engine.errors import OutOfTime, Unsolved
from quotas.engine.program import Flags, Floats, Ints, Program
from quotas.engine.purchase import Purchase, unit_prices

TOLERANCE = 1e-10
"""Of the solver, in GPUs: slack left on settled projects would leak to those who come later."""
_LAST_DIGIT = 1e-14
"""Relative; what a project can attain at most is else out of reach by the error of its sum."""
NOTHING = 1e-8
"""An overload or price below this is none."""
_STATUSES = (highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic, highspy.HighsBasisStatus.kUpper)
_LOWER, _BASIC, _UPPER = range(3)
_DUAL, _PRIMAL = 1, 4
"""The solver's numbers for its two simplex methods."""


@dataclass(frozen=True, slots=True)
class Overload:
    """``amount`` in GPUs over all models; ``prices`` per model from 0 to 1; ``marginal`` cost of demand per project."""

    amount: float
    prices: Floats
    marginal: Floats


class OverloadProgram:
    """Holds the solver's model and its last basis. ``is_late`` is asked before each solve."""

    def __init__(self, program: Program, is_late: Callable[[], bool]) -> None:
        self.program = program
        self.is_late = is_late
        self.most = program.most.copy()
        self.closed = np.zeros(program.pairs, dtype=bool)
        self.floor = program.effective(program.least)
        self.demand = self.floor.copy()
        self.solves = 0
        self._solver = quiet_solver()
        self._solver.setOptionValue("presolve", "off")
        self._solver.setOptionValue("solver", "simplex")
        self._solver.passModel(self._model())

    def ask(self, projects: Ints, effective: Floats) -> None:
        """Set the effective amount that these projects are to have at least. What the floors give anyway asks for
        nothing.
        """
        self.demand[projects] = effective
        count = len(projects)
        above = effective * (1.0 - _LAST_DIGIT) - self.floor[projects]
        lower = np.where(above > TOLERANCE, above, -highspy.kHighsInf)
        self._bound_rows(projects, lower, np.full(count, highspy.kHighsInf))

    def close(self, pairs: Ints) -> None:
        """Leave these pairs at their floors from now on."""
        self.most[pairs] = self.program.least[pairs]
        self.closed[pairs] = True
        nothing = np.zeros(len(pairs))
        self._solver.changeColsBounds(len(pairs), pairs.astype(np.int32), nothing, nothing)

    def set_maxima(self, pairs: Ints, most: Floats) -> None:
        count = len(pairs)
        upper = most - self.program.least[pairs]
        self._solver.changeColsBounds(count, pairs.astype(np.int32), np.zeros(count), upper)

    def set_totals(self, projects: Ints, totals: Floats) -> None:
        program, count = self.program, len(projects)
        room = totals - program.by_project(program.least)[projects]
        self._bound_rows(program.projects + projects, np.full(count, -highspy.kHighsInf), room)

    def set_usable(self, usable: Floats) -> None:
        program, count = self.program, self.program.models
        room = usable - program.by_model(program.least)
        self._bound_rows(2 * program.projects + np.arange(count), np.full(count, -highspy.kHighsInf), room)

    def solve(self) -> Overload:
        """Raises ``OutOfTime`` when the caller's time is up, ``Unsolved`` when the solver gives no optimum."""
        if self.is_late():
            raise OutOfTime
        run_to_optimum(self._solver)
        self._solver.setOptionValue("simplex_strategy", _DUAL)
        self.solves += 1
        count = self.program.projects
        duals = np.array(self._solver.getSolution().row_dual)
        amount = self._solver.getInfo().objective_function_value
        return Overload(amount, np.maximum(0.0, -duals[2 * count :]), np.maximum(0.0, duals[:count]))

    def start_from(self, prices: Floats) -> None:
        """Begin with the basis in which each project buys its demand at these prices: far fewer steps than from
        nothing.

        It is feasible whatever the prices, so they change the way to the answer and never the answer. The primal
        simplex goes on from there; later solves start from an optimum of other demands, which suits the dual one.
        """
        bought, marginal = self._purchase(prices)
        program, count = self.program, self.program.projects
        buys = np.zeros(count, dtype=bool)
        buys[program.project[marginal]] = True
        is_full = (bought >= self.most - program.least - NOTHING) & (bought > 0) & ~marginal
        is_over = program.by_model(bought + program.least) > program.usable
        columns = [np.select([marginal, is_full], [_BASIC, _UPPER], _LOWER), np.where(is_over, _BASIC, _LOWER)]
        totals = np.full(count, _BASIC)
        rows = [np.where(buys, _LOWER, _BASIC), totals, np.where(is_over, _UPPER, _BASIC)]
        basis = highspy.HighsBasis()
        basis.col_status = [_STATUSES[status] for status in np.concatenate(columns).tolist()]
        basis.row_status = [_STATUSES[status] for status in np.concatenate(rows).tolist()]
        basis.valid, basis.alien = True, False
        self._solver.setBasis(basis)
        self._solver.setOptionValue("simplex_strategy", _PRIMAL)

    def _bound_rows(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._solver.changeRowsBounds(len(rows), rows.astype(np.int32), lower, upper)  # type: ignore[attr-defined]

    def _purchase(self, prices: Floats) -> tuple[Floats, Flags]:
        """GPUs above the floors that each project buys, cheapest effective unit first, and its last, partly filled
        pair.

        Who would need more GPUs than its total buys by suitability instead, which needs the fewest.
        """
        program = self.program
        cheapest = unit_prices(program, self.most, prices)
        fewest = np.where(np.isfinite(cheapest), -program.suitability, np.inf)
        bought, marginal = self._buy(cheapest)
        room = program.total - program.by_project(program.least)
        is_over = (program.by_project(bought) > room + NOTHING)[program.project]
        frugal, frugal_marginal = self._buy(fewest)
        return np.where(is_over, frugal, bought), np.where(is_over, frugal_marginal, marginal)

    def _buy(self, rank: Floats) -> tuple[Floats, Flags]:
        purchase = Purchase.of(self.program, self.most, rank)
        bought = purchase.bought(np.maximum(0.0, self.demand - self.floor))
        is_bought = bought > TOLERANCE
        worth = np.where(is_bought, self.program.suitability, 1.0)
        return np.where(is_bought, bought / worth, 0.0), purchase.last(is_bought)

    def _model(self) -> highspy.HighsLp:
        program, inf = self.program, highspy.kHighsInf
        pairs, projects, models = program.pairs, program.projects, program.models
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = pairs + models, 2 * projects + models
        model.col_cost_ = np.concatenate([np.zeros(pairs), np.ones(models)])
        model.col_lower_ = np.zeros(pairs + models)
        model.col_upper_ = np.concatenate([program.most - program.least, np.full(models, inf)])
        room = program.total - program.by_project(program.least)
        model.row_lower_ = np.full(2 * projects + models, -inf)
        model.row_upper_ = np.concatenate(
            [np.full(projects, inf), room, program.usable - program.by_model(program.least)]
        )
        columns = pair_columns(program, np.arange(pairs), np.ones(pairs))
        overload = (2 * projects + np.arange(models), np.full(models, -1.0))
        starts = np.concatenate([np.arange(0, 3 * pairs, 3), 3 * pairs + np.arange(models + 1)])
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kColwise
        matrix.start_ = starts.astype(np.int32)
        matrix.index_ = np.concatenate([columns[0], overload[0]]).astype(np.int32)
        matrix.value_ = np.concatenate([columns[1], overload[1]])
        return model


def pair_columns(program: Program, pairs: Ints, sign: Floats) -> tuple[Ints, Floats]:
    """Rows and values of the columns of these pairs: the project's demand, its total, the model's capacity."""
    count = program.projects
    rows = np.stack([program.project[pairs], count + program.project[pairs], 2 * count + program.model[pairs]], axis=1)
    values = np.stack([program.suitability[pairs] * sign, sign, sign], axis=1)
    return rows.ravel(), values.ravel()


class _Silent(highspy.Highs):
    """The first call of a solver prints its banner, and its constructor makes that call: so this comes before."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the solver's name
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def quiet_solver() -> highspy.Highs:
    """Without parallel parts, so that the same instance gives the same vertex, byte for byte."""
    solver = _Silent()  # type: ignore[no-untyped-call]
    solver.setOptionValue("parallel", "off")
    return solver


def run_to_optimum(solver: highspy.Highs) -> None:
    """Solve; where the numbers of the kept basis defeat the solver, anew and with ten, then a thousand times the
    tolerance: amounts of millions of GPUs have no finer digits.

    A run that failed leaves the status of the one before, so both are asked. Raises ``Unsolved``.
    """
    for tolerance in (TOLERANCE, 10 * TOLERANCE, 1000 * TOLERANCE):
        solver.setOptionValue("primal_feasibility_tolerance", tolerance)
        solver.setOptionValue("dual_feasibility_tolerance", tolerance)
        outcome, status = solver.run(), solver.getModelStatus()
        if outcome != highspy.HighsStatus.kError and status == highspy.HighsModelStatus.kOptimal:
            return
        solver.clearSolver()
    raise Unsolved(solver.modelStatusToString(status))
