"""The instance as arrays: one entry a *pair* of project and model, sorted by project, best suitability first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quotas.engine.floors import Bounds
from quotas.engine.instance import Instance, Project, TierOrder

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Program:
    """Per pair: ``project``, ``model``, ``suitability``, ``least``, ``most``, ``previous``. Per project: ``scale`` to
    ``is_beyond``. Per model: the rest.

    ``suitability`` is relative to ``scale``, the best of the models that the project may have any of: levels do not
    change, and one tolerance fits all. ``full`` is E, the effective amount at full request; ``weight`` is w, the
    largest 1; ``turn`` counts from 0, and a turn is shared out when all earlier ones are; ``rank`` counts the ids in
    order; ``is_beyond``: its pins go beyond its request. ``is_cut``: floors on this model could not all be kept;
    ``lacking`` is how far its reserve exceeds its capacity. Amounts are whole GPUs, *effective* ones times suitability.
    """

    project: Ints
    model: Ints
    suitability: Floats
    least: Floats
    most: Floats
    previous: Floats
    scale: Floats
    full: Floats
    weight: Floats
    total: Floats
    granularity: Floats
    turn: Ints
    rank: Ints
    is_beyond: Flags
    usable: Floats
    lacking: Floats
    is_cut: Flags

    @property
    def projects(self) -> int:
        return len(self.full)

    @property
    def models(self) -> int:
        return len(self.usable)

    @property
    def pairs(self) -> int:
        return len(self.project)

    @property
    def turns(self) -> int:
        return int(self.turn.max(initial=-1)) + 1

    def by_project(self, values: Floats) -> Floats:
        """Sums over the pairs of each project."""
        return np.bincount(self.project, values, self.projects).astype(float)

    def by_model(self, values: Floats) -> Floats:
        return np.bincount(self.model, values, self.models).astype(float)

    def effective(self, gpus: Floats) -> Floats:
        """What an allocation is worth to each project."""
        return self.by_project(self.suitability * gpus)

    def first_pairs(self) -> list[int]:
        """Where each project's pairs begin, and at the end where the last one's end."""
        return [int(place) for place in np.searchsorted(self.project, np.arange(self.projects + 1))]

    def before(self, values: Floats, order: Ints | None = None) -> Floats:
        """For each pair, the sum of the values of its project's earlier pairs, in this order or in ours."""
        project = self.project if order is None else self.project[order]
        running = np.cumsum(values) - values
        first = np.searchsorted(project, project, side="left")
        return running - running[first] if len(running) else running

    def attainable(self, most: Floats, total: Floats | None = None) -> Floats:
        """The largest effective amount of each project between ``least`` and ``most`` within its total, or this one.

        Best suitability first is optimal, as every GPU counts once towards the total.
        """
        span = np.where(self.suitability > 0, most - self.least, 0.0)
        room = (self.total if total is None else total) - self.by_project(self.least)
        return self.effective(self.least + np.clip(room[self.project] - self.before(span), 0.0, span))


def program_of(instance: Instance, bounds: Bounds) -> Program:
    """Deterministic: pairs are ordered by the projects' place, suitability, and the models' place."""
    rows = list(_pairs(instance))
    place = np.array([row[0] for row in rows], dtype=np.intp)
    keys = [(instance.projects[row[0]].id, instance.gpu_models[row[1]].name) for row in rows]
    asks = [instance.projects[pid].models[name] for (pid, _), (_, name) in zip(rows, keys, strict=True)]
    cut = {floor.model for floor in bounds.relaxed}
    weight = np.array([instance.rules.weight(project) for project in instance.projects], dtype=float)
    suitability, most = _floats([ask.suitability for ask in asks]), _floats([bounds.most[key] for key in keys])
    scale = _best(place, np.where(most > 0, suitability, 0.0), len(weight))
    return Program(
        project=place,
        model=np.array([row[1] for row in rows], dtype=np.intp),
        suitability=suitability / scale[place],
        least=_floats([bounds.least[key] for key in keys]),
        most=most,
        previous=_floats([ask.previous for ask in asks]),
        scale=scale,
        full=_floats([_full(project) for project in instance.projects]) / scale,
        weight=weight / weight.max(initial=0.0) if len(weight) else weight,
        total=_floats([bounds.total[project.id] for project in instance.projects]),
        granularity=_floats([project.granularity for project in instance.projects]),
        turn=_turns(instance),
        rank=np.argsort(np.argsort([project.id for project in instance.projects])),
        is_beyond=np.array([_is_beyond(project) for project in instance.projects], dtype=bool),
        usable=_floats([model.usable for model in instance.gpu_models]),
        lacking=_floats([max(0, model.reserve - model.capacity) for model in instance.gpu_models]),
        is_cut=np.array([model.name in cut for model in instance.gpu_models], dtype=bool),
    )


def _pairs(instance: Instance) -> Iterator[tuple[int, int]]:
    """Places of project and model."""
    index = {model.name: place for place, model in enumerate(instance.gpu_models)}
    for place, project in enumerate(instance.projects):
        yield from ((place, index[name]) for name in instance.best_first(project))


def _best(project: Ints, values: Floats, count: int) -> Floats:
    """The largest value of each project, 1 where there is none above 0."""
    best = np.zeros(count)
    np.maximum.at(best, project, values)
    return np.where(best > 0, best, 1.0)


def _full(project: Project) -> float:
    """E: the largest effective amount within the maxima and the total, pins ignored."""
    left, amount = project.max_total, 0.0
    for ask in sorted(project.models.values(), key=lambda ask: -ask.suitability):
        given = min(ask.max, left)
        left -= given
        amount += ask.suitability * given
    return amount


def _is_beyond(project: Project) -> bool:
    has_more = any(gpus > project.models[name].max for name, gpus in project.pinned.items())
    return has_more or sum(project.pinned.values()) > project.max_total


def _turns(instance: Instance) -> Ints:
    """Tiers without guarantee come after all others; ``strict`` takes the tiers of each kind by falling weight."""
    rules = instance.rules
    is_strict = rules.tier_order is TierOrder.STRICT
    keys = [
        (not rules.guarantee[project.tier], -rules.tier_weight[project.tier] if is_strict else 0.0)
        for project in instance.projects
    ]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], dtype=np.intp)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=float)
