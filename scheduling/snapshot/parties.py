"""Projects and research areas: what each may use, and what it has used."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from inventory.models import Source
from projects.models import DataClass, ResearchArea
from projects.models import Project as ProjectRow
from projects.selectors import tier_at
from projects.states import ProjectState
from quotas.models import Resource
from quotas.selectors import (
    Quota,
    area_quotas_at,
    emergencies_at,
    promised_in_areas_at,
    quotas_at,
    with_emergencies,
)
from quotas.usage import QuotaKey
from scheduling.engine.model import MILLI, NONE, Entitlement, Group, Job, Project
from scheduling.past_use import Used, used_until
from scheduling.policy import Choices

_SOURCES = {
    DataClass.OPEN: frozenset(str(source) for source in Source),
    DataClass.INTERNAL: frozenset({str(Source.OWNED), str(Source.HYBRID), str(Source.RENTED)}),
    DataClass.RESTRICTED: frozenset({str(Source.OWNED)}),
}
_UNUSED = Used({}, {})


@dataclass(frozen=True, slots=True)
class Parties:
    """``grants``: by project the GPU models of which an emergency grant in force releases the reserve to it."""

    projects: tuple[Project, ...]
    groups: tuple[Group, ...]
    grants: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def with_grant(self, job: Job) -> Job:
        """The job, marked if its project's grants cover every model that it may use."""
        granted = self.grants.get(job.project)
        if granted is None:
            return job
        usable = next(project.gpu_models or frozenset() for project in self.projects if project.id == job.project)
        models = usable & job.ask.gpu_models if job.ask.gpu_models else usable
        return replace(job, is_emergency=bool(models) and models <= granted)

    def terms(self) -> dict[int, tuple[Project, tuple[Group, ...]]]:
        """By project: what it may use, and every area above it; past use left out, which every second changes."""
        groups = {group.id: replace(group, entitlement=_timeless(group.entitlement)) for group in self.groups}
        return {
            project.id: (
                replace(project, entitlement=_timeless(project.entitlement)),
                tuple(_above(project.group, groups)),
            )
            for project in self.projects
        }


def load_parties(
    project_ids: Iterable[int], at: datetime, choices: Choices, names: Mapping[int, str], *, with_use: bool = True
) -> Parties:
    """These projects and the areas above them, each by id. A dozen statements, whatever their number."""
    return _Loading(sorted(project_ids), at, choices, names, with_use).parties()


def _timeless(entitlement: Entitlement) -> Entitlement:
    return replace(entitlement, past_use=NONE)


def _above(group: int | None, groups: Mapping[int, Group]) -> Iterator[Group]:
    while group is not None:
        yield groups[group]
        group = groups[group].parent


class _Loading:
    """What several parts of the answer need, read once."""

    def __init__(
        self, ids: list[int], at: datetime, choices: Choices, names: Mapping[int, str], with_use: bool
    ) -> None:
        self._ids, self._at, self._choices, self._names = ids, at, choices, names
        self._quotas = quotas_at(at, ids)
        self._grants = emergencies_at(at, ids)
        self._used = used_until(at, choices.half_life_s) if with_use else _UNUSED
        self._parents = {}
        self._titles = {}
        for pk, title, parent in ResearchArea.objects.order_by("pk").values_list("pk", "title", "parent_id"):
            self._parents[pk], self._titles[pk] = parent, title

    def parties(self) -> Parties:
        rows = ProjectRow.objects.filter(pk__in=self._ids).order_by("pk")
        found = list(rows.values_list("pk", "name", "state", "data_class", "area_id"))
        tiers = tier_at(self._ids, self._at)
        held = self._held()
        projects = tuple(
            Project(
                id=pk,
                name=name,
                group=area,
                entitlement=self._entitlement(pk, held.get(pk, {}), tiers.get(pk)),
                created_order=pk,
                is_active=state == ProjectState.ACTIVE,
                gpu_models=frozenset(name for name, quota in held.get(pk, {}).items() if quota.limit != 0),
                sources=_SOURCES[DataClass(data_class)],
                cpu_limit=self._limit(pk, Resource.CPU),
                memory_limit_bytes=self._limit(pk, Resource.MEMORY),
            )
            for pk, name, state, data_class, area in found
        )
        granted: defaultdict[int, set[str]] = defaultdict(set)
        for project, model in self._grants:
            granted[project].add(self._names[model])
        groups = self._groups({area for *_rest, area in found if area is not None})
        return Parties(projects, groups, {pk: frozenset(models) for pk, models in granted.items()})

    def _held(self) -> dict[int, dict[str, Quota]]:
        """GPU quotas by project and model, with what an emergency grant adds."""
        held: defaultdict[int, dict[str, Quota]] = defaultdict(dict)
        for (project, model), quota in with_emergencies(self._quotas, self._grants).items():
            held[project][self._names[model]] = quota
        return dict(held)

    def _limit(self, project: int, resource: Resource) -> int | None:
        key: QuotaKey = (project, resource, None)
        return self._quotas[key].limit if key in self._quotas else None

    def _entitlement(self, project: int, held: Mapping[str, Quota], tier: str | None) -> Entitlement:
        used = self._used.projects
        return Entitlement(
            guaranteed={name: quota.guaranteed * MILLI for name, quota in held.items()},
            limit={name: quota.limit * MILLI for name, quota in held.items() if quota.limit is not None},
            weight=self._choices.weight_of(tier),
            rank=self._choices.rank_of(tier),
            past_use={
                name: part
                for model, name in self._names.items()
                if (part := self._used.part(used.get((project, model), 0.0), model))
            },
        )

    def _groups(self, areas: set[int]) -> tuple[Group, ...]:
        """The areas with these projects, and all above them."""
        wanted = {area for leaf in areas for area in self._up(leaf)}
        if not wanted:
            return ()
        own = {key: quota for key, quota in area_quotas_at(self._at).items() if key[1] == Resource.GPU}
        promised = self._summed(promised_in_areas_at(self._at))
        below = self._summed({(area, model or 0): quota.guaranteed for (area, _res, model), quota in own.items()})
        used = self._summed(self._used_by_area())
        return tuple(
            Group(
                pk,
                self._titles[pk],
                self._parents[pk],
                Entitlement(
                    guaranteed={
                        name: milli
                        for model, name in self._names.items()
                        if (milli := MILLI * round(promised.get((pk, model), 0) + below.get((pk, model), 0)))
                    },
                    limit=self._area_limits(pk, own, promised, below),
                    past_use={
                        name: part
                        for model, name in self._names.items()
                        if (part := self._used.part(used.get((pk, model), 0.0), model))
                    },
                ),
            )
            for pk in sorted(wanted)
        )

    def _area_limits(
        self,
        area: int,
        own: Mapping[QuotaKey, Quota],
        promised: Mapping[tuple[int, int], float],
        below: Mapping[tuple[int, int], float],
    ) -> dict[str, int]:
        """An area's claim comes on top of what its projects and the areas below are promised, and so does its limit."""
        limits = {}
        for (holder, _resource, model), quota in own.items():
            if holder == area and quota.limit is not None and model is not None:
                key = (area, model)
                gpus = promised.get(key, 0) + below[key] - quota.guaranteed + quota.limit
                limits[self._names[model]] = round(gpus) * MILLI
        return limits

    def _used_by_area(self) -> dict[tuple[int, int], float]:
        owners = dict(ProjectRow.objects.filter(area__isnull=False).values_list("pk", "area_id"))
        used: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (project, model), amount in self._used.projects.items():
            if project in owners:
                used[(owners[project] or 0, model)] += amount
        return dict(used)

    def _summed(self, amounts: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        """By area and model, with what the areas below have."""
        total: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (area, model), amount in amounts.items():
            for above in self._up(area):
                total[(above, model)] += amount
        return dict(total)

    def _up(self, area: int) -> Iterator[int]:
        """The area and all above it."""
        at: int | None = area
        while at is not None:
            yield at
            at = self._parents[at]
