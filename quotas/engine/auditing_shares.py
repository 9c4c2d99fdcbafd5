"""The plan audit's look at the exact levels: can they be had together, and can nobody rise from the lowest up?

By plain linear programmes of its own: one for all levels together, then one for each different level of a turn. The
projects at a level may rise only at the cost of those above it, of later turns, or of what is left: in a max-min
vector none of them can.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from quotas.engine.instance import Project
from quotas.engine.overload import quiet_solver, run_to_optimum

_SAME = 1e-6
"""Levels closer than this, relatively, are one: they are rounded."""
_SEEN = 0.02
"""GPUs of the best model; less is the sum of many rounded numbers."""
_ROUNDED = 1e-5
"""Part of all amounts that may be lost in writing levels, and then be found by one project."""
_ERROR = 1e-9
"""Of an amount that is held, so that there is a point to start from."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One project: ``amounts`` of its exact level in GPUs of its best model, ``per_level`` such GPUs a level."""

    name: str
    turn: tuple[bool, float]
    level: float
    top: float
    per_level: float
    total: float
    pairs: Mapping[str, tuple[float, float, float]]
    """By model: suitability relative to the best, least, most."""


def total_of(project: Project) -> int:
    """D: the total, raised to the sum of the pins."""
    return max(project.max_total, sum(project.pinned.values()))


def full_of(project: Project) -> float:
    """E: the best models first, as many GPUs as the total holds; pins do not count."""
    room, amount = project.max_total, 0.0
    for worth, most in sorted(((ask.suitability, ask.max) for ask in project.models.values()), reverse=True):
        amount += worth * min(most, room)
        room -= min(most, room)
    return amount


def broken_shares(rows: list[Row], usable: Mapping[str, float]) -> Iterator[str]:
    """One line for levels that cannot be had, and one for each level from which projects could rise."""
    if not rows:
        return
    look, stated = _Look(rows, usable), np.array([row.level * row.per_level for row in rows])
    close = _SEEN + _ROUNDED * float(np.maximum(1.0, stated).sum())
    had = stated + look.shortage(stated)
    if (stated - had).sum() > close:
        yield f"exact_level: {(stated - had).sum():.3g} GPUs are lacking for all levels together"
        return
    for turn in sorted({row.turn for row in rows}):
        open_rows = [row for row in rows if row.turn == turn and row.level < row.top * (1 - _SAME)]
        for level in _different([row.level for row in open_rows]):
            rising = {row.name: row.top * row.per_level for row in open_rows if abs(row.level - level) <= _SAME * level}
            held = [_held(row, amount, turn, level) for row, amount in zip(rows, had.tolist(), strict=True)]
            gained = look.gains([rising.get(row.name, 0.0) for row in rows], held)
            for place in np.flatnonzero(gained > close):
                yield f"{rows[place].name}: exact_level {rows[place].level} could be higher at no lower one's cost"


def _held(row: Row, amount: float, turn: tuple[bool, float], level: float) -> float:
    """What this project keeps while those of the level try to rise."""
    if row.turn > turn:
        return 0.0
    kept = amount if row.turn < turn else min(amount, row.per_level * level)
    return max(0.0, kept * (1 - _ERROR) - _ERROR)


def _different(levels: list[float]) -> list[float]:
    found: list[float] = []
    for level in sorted(levels):
        if not found or level > found[-1] * (1 + _SAME) + 1e-12:
            found.append(level)
    return found


class _Look:
    """One programme for all questions: the GPUs of each pair, and each project's gain over the amount that is held.

    Only bounds change between questions, so each starts from the last basis.
    """

    def __init__(self, rows: list[Row], usable: Mapping[str, float]) -> None:
        self.rows = rows
        self.pairs = sum(len(row.pairs) for row in rows)
        self.solver = quiet_solver()
        self.solver.passModel(self._model(usable))

    def shortage(self, amounts: Floats) -> Floats:
        """How much, as numbers below 0, is lacking for all to have these amounts together."""
        nothing = np.zeros(len(self.rows))
        return np.minimum(nothing, self._gains(np.full(len(self.rows), -highspy.kHighsInf), nothing, amounts))

    def gains(self, reach: list[float], held: list[float]) -> Floats:
        """How much more than is held all can have together, each up to its reach."""
        most = np.maximum(0.0, np.array(reach) - np.array(held))
        return self._gains(np.zeros(len(self.rows)), most, np.array(held))

    def _gains(self, least: Floats, most: Floats, held: Floats) -> Floats:
        """Raises ``Unsolved``."""
        count = len(self.rows)
        places = np.arange(count, dtype=np.int32)
        self.solver.changeColsBounds(count, self.pairs + places, least, most)
        self.solver.changeRowsBounds(count, places, held, np.full(count, highspy.kHighsInf))  # type: ignore[attr-defined]
        run_to_optimum(self.solver)
        return np.array(self.solver.getSolution().col_value)[self.pairs :]

    def _model(self, usable: Mapping[str, float]) -> highspy.HighsLp:
        count, inf = len(self.rows), highspy.kHighsInf
        keys = [(place, name) for place, row in enumerate(self.rows) for name in row.pairs]
        bounds = [self.rows[place].pairs[name] for place, name in keys]
        of_model = {name: 2 * count + index for index, name in enumerate(usable)}
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = self.pairs + count, 2 * count + len(usable)
        model.col_cost_ = np.concatenate([np.zeros(self.pairs), np.full(count, -1.0)])
        model.col_lower_ = np.array([least for _worth, least, _most in bounds] + [0.0] * count)
        model.col_upper_ = np.array([most for _worth, _least, most in bounds] + [0.0] * count)
        model.row_lower_ = np.full(model.num_row_, -inf)
        model.row_upper_ = np.array([inf] * count + [row.total for row in self.rows] + list(usable.values()))
        index = [row for place, name in keys for row in (place, count + place, of_model[name])]
        value = [part for worth, _least, _most in bounds for part in (worth, 1.0, 1.0)]
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kColwise
        ends = 3 * self.pairs + np.arange(count + 1)
        matrix.start_ = np.concatenate([np.arange(0, 3 * self.pairs, 3), ends]).astype(np.int32)
        matrix.index_ = np.array(index + list(range(count)), dtype=np.int32)
        matrix.value_ = np.array(value + [-1.0] * count)
        return model
