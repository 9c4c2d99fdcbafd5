"""A slow, independent way to the exact levels: raise the lowest level, then try each project alone, and again."""

from dataclasses import dataclass

import highspy
import numpy as np

from quotas.engine.floors import Pair, bounds_of
from quotas.engine.instance import Ask, Instance, TierOrder

_CLOSE = 1e-6


def exact_levels(instance: Instance) -> dict[str, float]:
    """The lexicographically largest vector of levels by plain linear programmes, one a project and round."""
    return _Slow.of(instance).levels()


@dataclass(slots=True)
class _Slow:
    instance: Instance
    pairs: list[tuple[str, str]]
    worth: np.ndarray
    least: np.ndarray
    most: np.ndarray
    total: dict[str, int]
    full: dict[str, float]
    weight: dict[str, float]

    @classmethod
    def of(cls, instance: Instance) -> "_Slow":
        bounds = bounds_of(instance)
        pairs = sorted(bounds.least)
        asks = {(project.id, name): ask for project in instance.projects for name, ask in project.models.items()}
        largest = max(instance.rules.weight(project) for project in instance.projects)
        slow = cls(
            instance,
            pairs,
            np.array([asks[pair].suitability for pair in pairs]),
            np.array([bounds.least[pair] for pair in pairs], dtype=float),
            np.array([bounds.most[pair] for pair in pairs], dtype=float),
            bounds.total,
            {},
            {project.id: instance.rules.weight(project) / largest for project in instance.projects},
        )
        slow.full = {project.id: slow._full(project.id, project.max_total, asks) for project in instance.projects}
        return slow

    def _full(self, name: str, total: int, asks: dict[Pair, Ask]) -> float:
        """E by a linear programme of its own."""
        mine = [pair for pair in self.pairs if pair[0] == name]
        worth = np.array([asks[pair].suitability for pair in mine])
        most = np.array([asks[pair].max for pair in mine], dtype=float)
        value, _point = _largest(worth, np.zeros(len(mine)), most, [(np.ones(len(mine)), -np.inf, float(total))])
        return value

    def levels(self) -> dict[str, float]:
        settled: dict[str, float] = {}
        for turn in self._turns():
            free = [name for name in turn if self.full[name] > 0]
            while free:
                level = self._common_level(free, settled)
                done = {name for name in free if not self._can_rise(name, level, free, settled)}
                assert done, "nobody is blocked"
                settled |= {name: max(0.0, level * self.full[name] * self.weight[name] - 1e-9) for name in done}
                free = [name for name in free if name not in done]
        return {
            project.id: min(
                settled[project.id] / (self.full[project.id] * self.weight[project.id]), 1 / self.weight[project.id]
            )
            if self.full[project.id] > 0
            else 0.0
            for project in self.instance.projects
        }

    def _turns(self) -> list[list[str]]:
        rules = self.instance.rules
        keyed: dict[tuple[bool, float], list[str]] = {}
        for project in self.instance.projects:
            weight = -rules.tier_weight[project.tier] if rules.tier_order is TierOrder.STRICT else 0
            keyed.setdefault((not rules.guarantee[project.tier], weight), []).append(project.id)
        return [keyed[key] for key in sorted(keyed)]

    def _common_level(self, free: list[str], settled: dict[str, float]) -> float:
        """The largest level that all free projects reach together. One variable more than there are pairs."""
        count = len(self.pairs)
        rows = [(np.append(row, 0.0), low, high) for row, low, high in self._hard()]
        rows += [(np.append(self._effect(name), 0.0), held, np.inf) for name, held in settled.items()]
        rows += [(np.append(self._effect(name), -self.full[name] * self.weight[name]), 0.0, np.inf) for name in free]
        top = min(1 / self.weight[name] for name in free)
        objective = np.append(np.zeros(count), 1.0)
        value, _point = _largest(objective, np.append(self.least, 0.0), np.append(self.most, top), rows)
        return value

    def _can_rise(self, name: str, level: float, free: list[str], settled: dict[str, float]) -> bool:
        """Whether this project alone can have more while the others keep the level."""
        if level >= 1 / self.weight[name] - _CLOSE:
            return False
        rows = self._hard()
        rows += [(self._effect(other), held, np.inf) for other, held in settled.items()]
        rows += [
            (self._effect(other), self.full[other] * self.weight[other] * level - 1e-9, np.inf)
            for other in free
            if other != name
        ]
        value, _point = _largest(self._effect(name), self.least, self.most, rows)
        return value > self.full[name] * self.weight[name] * level + _CLOSE

    def _effect(self, name: str) -> np.ndarray:
        return np.array([worth if pair[0] == name else 0.0 for pair, worth in zip(self.pairs, self.worth, strict=True)])

    def _hard(self) -> list[tuple[np.ndarray, float, float]]:
        rows = []
        for model in self.instance.gpu_models:
            rows.append((np.array([float(pair[1] == model.name) for pair in self.pairs]), -np.inf, float(model.usable)))
        for name, total in self.total.items():
            rows.append((np.array([float(pair[0] == name) for pair in self.pairs]), -np.inf, float(total)))
        return rows


def _largest(
    objective: np.ndarray, least: np.ndarray, most: np.ndarray, rows: list[tuple[np.ndarray, float, float]]
) -> tuple[float, np.ndarray]:
    """The maximum of a dense linear programme, and where it is."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    for low, high, gain in zip(least, most, objective, strict=True):
        solver.addVar(low, high)
        solver.changeColCost(solver.getNumCol() - 1, -gain)
    for row, low, high in rows:
        places = np.flatnonzero(row)
        solver.addRow(low, high, len(places), places.astype(np.int32), row[places])
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, solver.getModelStatus()
    return -solver.getInfo().objective_function_value, np.array(solver.getSolution().col_value)
