"""What projects hold and use, per GPU model: quotas of one room and use of another, side by side."""

from collections.abc import Collection
from dataclasses import dataclass

from inventory.models import GpuModel
from kernel import clock
from quotas.models import Resource
from quotas.selectors import quotas_at
from scheduling.engine import MILLI
from scheduling.selectors import used_now


@dataclass(frozen=True, slots=True)
class Allotment:
    """Whole GPUs, or parts of them where a job asked for a part. ``limit`` None: no limit."""

    gpu_model: str
    used: float
    guaranteed: int
    limit: int | None

    @property
    def bar_limit(self) -> float:
        """Where the bar ends: without a limit it ends at what is there to show."""
        return max(self.used, self.guaranteed) if self.limit is None else self.limit

    @property
    def over(self) -> float:
        """GPUs above the guarantee: they run on what is idle and give way."""
        return max(0.0, self.used - self.guaranteed)

    @property
    def is_over(self) -> bool:
        """Runs on idle capacity above the guarantee."""
        return self.used > self.guaranteed


@dataclass(frozen=True, slots=True)
class Allotments:
    """All models of one project, and their sum."""

    rows: tuple[Allotment, ...]

    @property
    def total(self) -> Allotment:
        limits = [row.limit for row in self.rows]
        known = [limit for limit in limits if limit is not None]
        whole = sum(known) if len(known) == len(limits) else None
        return Allotment("", sum(r.used for r in self.rows), sum(r.guaranteed for r in self.rows), whole)

    @property
    def scale(self) -> float:
        """The longest bar of the table, so that all rows have one scale."""
        return max((row.bar_limit for row in self.rows), default=1) or 1


def allotments(project_ids: Collection[int], names: dict[int, str] | None = None) -> dict[int, Allotments]:
    """By project; a project that holds and uses nothing has no rows. Three statements, without ``names`` of models
    given."""
    names = dict(GpuModel.objects.values_list("pk", "name")) if names is None else names
    quotas = quotas_at(clock.now(), project_ids)
    used = used_now(project_ids)
    keys = {(project, model) for project, resource, model in quotas if resource == Resource.GPU and model is not None}
    rows: dict[int, list[Allotment]] = {project: [] for project in project_ids}
    for project, model in sorted(keys | set(used), key=lambda key: (key[0], names.get(key[1], ""))):
        quota = quotas.get((project, Resource.GPU, model))
        use = used[(project, model)].milli_gpus / MILLI if (project, model) in used else 0.0
        guaranteed, limit = (quota.guaranteed, quota.limit) if quota else (0, 0)
        rows[project].append(Allotment(names.get(model, str(model)), use, guaranteed, limit))
    return {project: Allotments(tuple(found)) for project, found in rows.items()}
