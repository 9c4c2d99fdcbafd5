"""Between all allocations that keep the fair shares, up to a tolerance, the one that moves the fewest GPUs.

Minimise Σ taken − 0.01 Σ given + 0.01 Σ taken over the GPUs taken from and given to each pair, against what it had.
The small terms hand out what is left and break ties towards staying. The answer is a vertex, so hardly any amount is
broken: per project at most as many as its own binding rows, and over all at most one more per model.
"""

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np

from quotas.engine.errors import OutOfTime
from quotas.engine.overload import pair_columns, quiet_solver, run_to_optimum
from quotas.engine.program import Floats, Ints, Program

_SMALL = 0.01
_ERROR = 1e-8
"""Relative; the exact shares carry errors of their own, and without slack the programme may have no point."""
_BY_POINTS = 20_000
"""From this many pairs on, interior point with crossover takes less than half of the dual simplex' time (measured)."""


@dataclass(frozen=True, slots=True)
class Moved:
    """GPUs per pair, not yet whole, and their effective amount per project: the *entitlement*."""

    gpus: Floats
    entitlement: Floats


def least_movement(
    program: Program, exact: Floats, tolerance: float, *, is_late: Callable[[], bool] = lambda: False
) -> Moved:
    """``exact`` is the fair effective amount per project; everybody keeps ``1 − tolerance`` of it.

    Raises ``OutOfTime``, ``Unsolved``.
    """
    if is_late():
        raise OutOfTime
    stay = np.clip(program.previous, program.least, program.most)
    up, down = np.flatnonzero(program.most > stay), np.flatnonzero(stay > program.least)
    pairs = np.concatenate([up, down])
    if not len(pairs):
        return Moved(stay, program.effective(stay))
    sign = np.concatenate([np.ones(len(up)), -np.ones(len(down))])
    solver = quiet_solver()
    if len(pairs) >= _BY_POINTS:
        solver.setOptionValue("solver", "ipm")
    owed = exact * (1.0 - tolerance) - _ERROR * (1.0 + exact)
    solver.passModel(_model(program, owed, stay, pairs, sign))
    run_to_optimum(solver)
    gpus = stay.copy()
    np.add.at(gpus, pairs, sign * np.array(solver.getSolution().col_value))
    gpus = np.clip(gpus, program.least, program.most)
    return Moved(gpus, program.effective(gpus))


def _model(program: Program, owed: Floats, stay: Floats, pairs: Ints, sign: Floats) -> highspy.HighsLp:
    """Columns are the GPUs given (sign 1) and taken (sign −1) of these pairs, counted from where each stays."""
    inf, count = highspy.kHighsInf, len(pairs)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count, 2 * program.projects + program.models
    model.col_cost_ = np.where(sign > 0, -_SMALL, 1.0 + _SMALL)
    model.col_lower_ = np.zeros(count)
    model.col_upper_ = np.where(sign > 0, program.most[pairs] - stay[pairs], stay[pairs] - program.least[pairs])
    unbounded = np.full(program.projects + program.models, -inf)
    model.row_lower_ = np.concatenate([owed - program.effective(stay), unbounded])
    model.row_upper_ = np.concatenate(
        [
            np.full(program.projects, inf),
            program.total - program.by_project(stay),
            program.usable - program.by_model(stay),
        ]
    )
    rows, values = pair_columns(program, pairs, sign)
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.start_ = np.arange(0, 3 * count + 1, 3).astype(np.int32)
    matrix.index_, matrix.value_ = rows.astype(np.int32), values
    return model
