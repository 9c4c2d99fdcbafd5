"""Which floors and pins can be kept, by rank, when not all can. Integers only; never a silent cut."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quotas.engine.instance import Instance, Project

Pair = tuple[str, str]
"""Project id and model name."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A floor or pin that could not be met: ``given`` is what is kept of it."""

    project: str
    model: str
    floor: int
    given: int

    @property
    def shortfall(self) -> int:
        return self.floor - self.given


@dataclass(frozen=True, slots=True)
class Bounds:
    """``least`` and ``most`` GPUs of each pair, all multiples of the granularity, and ``total`` per project.

    The least of all pairs together fit into the capacity and into each project's total.
    """

    least: dict[Pair, int]
    most: dict[Pair, int]
    total: dict[str, int]
    relaxed: tuple[Relaxed, ...]


def bounds_of(instance: Instance) -> Bounds:
    """The hard bounds of the plan.

    A project's pins come before its other floors, which are kept from the best suitability down while its total
    lasts. Then per model: pins before floors, each by tier weight and score (high first) and id. Each keeps the
    largest multiple of its granularity that still fits; later ones may use the rest. A cut pin stays an upper bound.
    """
    kept = {pair: gpus for project in instance.projects for pair, gpus in _within_total(instance, project)}
    for model in instance.gpu_models:
        left = model.usable
        for project in _by_rank(instance, model.name):
            pair = (project.id, model.name)
            kept[pair] = min(kept[pair], left // project.granularity * project.granularity)
            left -= kept[pair]
    wanted = {pair: gpus for project in instance.projects for pair, gpus in _wanted(project)}
    return Bounds(
        least=kept,
        most={pair: gpus for project in instance.projects for pair, gpus in _most(project)},
        total={project.id: max(project.max_total, sum(project.pinned.values())) for project in instance.projects},
        relaxed=tuple(Relaxed(*pair, gpus, kept[pair]) for pair, gpus in wanted.items() if kept[pair] < gpus),
    )


def _wanted(project: Project) -> Iterator[tuple[Pair, int]]:
    """Each pin, and the floor of each model that is not pinned."""
    for name, ask in project.models.items():
        yield (project.id, name), project.pinned.get(name, ask.min)


def _most(project: Project) -> Iterator[tuple[Pair, int]]:
    """A model that is of no use is given only by a pin."""
    for name, ask in project.models.items():
        yield (project.id, name), project.pinned.get(name, ask.max if ask.suitability > 0 else 0)


def _within_total(instance: Instance, project: Project) -> Iterator[tuple[Pair, int]]:
    """What the project's own total leaves of its floors. Pins raise the total, so they always fit."""
    pins = sum(project.pinned.values())
    left = max(0, project.max_total - pins)
    yield from (((project.id, name), gpus) for name, gpus in project.pinned.items())
    for name in (name for name in instance.best_first(project) if name not in project.pinned):
        given = min(project.models[name].min, left)
        left -= given
        yield (project.id, name), given


def _by_rank(instance: Instance, model: str) -> Iterable[Project]:
    rules = instance.rules
    asking = [project for project in instance.projects if model in project.models]
    return sorted(
        asking,
        key=lambda project: (model not in project.pinned, -rules.tier_weight[project.tier], -project.score, project.id),
    )
