"""The plan audit: does this plan keep the rules of this instance, however it was made?

Works on the two documents, with arithmetic of its own: of the solver, only the reading of the instance is used.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kernel.documents import BadInput, Taker, digest, one_line, shown
from quotas.engine.auditing_shares import Row, broken_shares, full_of, total_of
from quotas.engine.errors import Unsolved
from quotas.engine.instance import Instance, Project, TierOrder
from quotas.engine.plan import SCHEMA, Status, Why
from quotas.engine.reading import read

_CLOSE = 1e-5
"""Effective GPUs and levels closer than this are equal: a plan's numbers are rounded."""
_FINE = 1e-9
"""Where a GPU is worth next to nothing, amounts are told apart down to this."""

_UNIQUE = {
    "quotas": ("project", "model"),
    "projects": ("project",),
    "models": ("model",),
    "relaxed_floors": ("project", "model"),
    "exceptions": ("project",),
}
"""What names a row of each list of the plan."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the plan says of one pair."""

    gpus: int
    guaranteed: int
    limit: int


@dataclass(frozen=True, slots=True)
class Stated:
    """What the plan says of one project."""

    level: float
    exact_level: float
    entitlement: float
    effective: float
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanRead:
    """A plan as it was read from its document; nothing of it is believed."""

    status: Status
    sha256: str
    quotas: dict[tuple[str, str], Given]
    projects: dict[str, Stated]
    models: dict[str, tuple[int, int]]
    relaxed: dict[tuple[str, str], tuple[int, int, int]]
    exceptions: dict[str, str]
    churn: tuple[int, int]
    tolerance_used: float
    lowest: tuple[float | None, float | None]
    has_gap: bool


def audit(instance_document: Any, plan_document: Any) -> list[str]:
    """One line per broken rule; none for a plan that may be published. Raises ``BadInput``."""
    instance, plan = read(instance_document), read_plan(plan_document)
    lines = list(_Audit(instance, plan).lines())
    if plan.sha256 not in ("", digest(instance_document)):
        lines.insert(0, "instance_sha256: the plan was made for another instance")
    return [one_line(line) for line in lines]


def read_plan(document: Any) -> PlanRead:
    """Raises ``BadInput`` with every fault and its JSON path."""
    reader = _Reader()
    plan = reader.plan(document)
    if reader.faults or plan is None:
        raise BadInput(reader.faults)
    return plan


class _Reader(Taker):
    def plan(self, document: Any) -> PlanRead | None:
        if not self.schema(document, SCHEMA):
            return None
        churn, fairness = self.mapping(document, "churn", "$"), self.mapping(document, "fairness", "$")
        for key, names in _UNIQUE.items():
            self._once(document, key, names)
        return PlanRead(
            status=self._status(document),
            sha256=document.get("instance_sha256") or "",
            quotas=self._quotas(document),
            projects={
                self.text(row, "project", at): self._stated(row, at) for at, row in self.rows(document, "projects", "$")
            },
            models={
                self.text(row, "model", at): (self.count(row, "usable", at), self.count(row, "given", at))
                for at, row in self.rows(document, "models", "$")
            },
            relaxed={
                (self.text(row, "project", at), self.text(row, "model", at)): (
                    self.count(row, "floor", at),
                    self.count(row, "given", at),
                    self.count(row, "shortfall", at),
                )
                for at, row in self.rows(document, "relaxed_floors", "$")
            },
            exceptions={
                self.text(row, "project", at): self.text(row, "reason", at)
                for at, row in self.rows(document, "exceptions", "$")
            },
            churn=(self.count(churn, "moved_gpus", "$.churn"), self.count(churn, "taken_gpus", "$.churn")),
            tolerance_used=self.number(churn, "tolerance_used", "$.churn"),
            lowest=(self._level(fairness, "min_exact_level"), self._level(fairness, "min_level")),
            has_gap="gap" in document and self.number(document, "gap", "$") >= 0,
        )

    def _once(self, document: Any, key: str, names: tuple[str, ...]) -> None:
        """A second row of the same name would hide the first."""
        seen: set[str] = set()
        rows = document.get(key)
        for index, row in enumerate(rows if isinstance(rows, list) else []):
            name = (
                shown([row.get(part) for part in names]) if isinstance(row, dict) and set(names) <= set(row) else None
            )
            if name in seen:
                self.fault(f"$.{key}[{index}]", f"{name} is there twice")
            seen |= {name} if name else set()

    def _level(self, fairness: Any, key: str) -> float | None:
        """Null where no project can use anything."""
        return None if fairness.get(key, 0) is None else self.number(fairness, key, "$.fairness")

    def _status(self, document: Any) -> Status:
        value = self.text(document, "status", "$")
        if value in set(Status):
            return Status(value)
        if value:
            self.fault("$.status", f"{shown(value)} is not one of: {', '.join(Status)}")
        return Status.OPTIMAL

    def _quotas(self, document: Any) -> dict[tuple[str, str], Given]:
        quotas: dict[tuple[str, str], Given] = {}
        for at, row in self.rows(document, "quotas", "$"):
            pair = (self.text(row, "project", at), self.text(row, "model", at))
            quotas[pair] = Given(*(self.count(row, key, at) for key in ("gpus", "guaranteed", "limit")))
        return quotas

    def _stated(self, row: Any, at: str) -> Stated:
        return Stated(
            level=self.number(row, "level", at),
            exact_level=self.number(row, "exact_level", at),
            entitlement=self.number(row, "entitlement", at),
            effective=self.number(row, "effective", at),
            kinds=tuple(self.text(reason, "kind", place) for place, reason in self.rows(row, "reasons", at)),
        )


class _Audit:
    """Each method is one rule and yields a line for each time it is broken."""

    def __init__(self, instance: Instance, plan: PlanRead) -> None:
        self.instance = instance
        self.plan = plan
        self.kept = dict(_kept_floors(instance))
        weights = {project.id: instance.rules.weight(project) for project in instance.projects}
        largest = max(weights.values(), default=1.0)
        self.weight = {name: weight / largest for name, weight in weights.items()}

    def lines(self) -> Iterator[str]:
        yield from self._unknown()
        yield from self._capacity()
        yield from self._relaxed()
        for project in self.instance.projects:
            yield from self._bounds(project)
            yield from self._labels(project)
            if project.id in self.plan.projects:
                yield from self._numbers(project, self.plan.projects[project.id])
                yield from self._entitlement(project, self.plan.projects[project.id])
            else:
                yield f"{project.id}: not in the plan's projects"
        yield from self._left()
        yield from self._exceptions()
        yield from self._churn()
        yield from self._fairness()
        if not self.plan.has_gap and all(project.id in self.plan.projects for project in self.instance.projects):
            rows = [self._row(project) for project in self.instance.projects]
            with suppress(Unsolved):  # what numbers of too different a size hide is not called broken
                yield from broken_shares(rows, {model.name: model.usable for model in self.instance.gpu_models})

    def gpus(self, project: str, model: str) -> int:
        given = self.plan.quotas.get((project, model))
        return given.gpus if given else 0

    def _unknown(self) -> Iterator[str]:
        asked = {(project.id, model) for project in self.instance.projects for model in project.models}
        for project, model in sorted(self.plan.quotas.keys() - asked):
            yield f"{project}, {model}: the project does not ask for this model"
        names = self.plan.projects.keys() | self.plan.exceptions.keys()
        for name in sorted(names - {project.id for project in self.instance.projects}):
            yield f"{name}: no project of the instance"
        for name in sorted(self.plan.models.keys() - {model.name for model in self.instance.gpu_models}):
            yield f"{name}: no GPU model of the instance"

    def _capacity(self) -> Iterator[str]:
        given: Counter[str] = Counter()
        for (_project, name), quota in self.plan.quotas.items():
            given[name] += quota.gpus
        for model in self.instance.gpu_models:
            if given[model.name] > model.usable:
                yield f"{model.name}: {given[model.name]} GPUs given, {model.usable} usable"
            if self.plan.models.get(model.name) != (model.usable, given[model.name]):
                yield f"{model.name}: usable {model.usable} and given {given[model.name]} differ in models"

    def _bounds(self, project: Project) -> Iterator[str]:
        for name, ask in project.models.items():
            gpus, least = self.gpus(project.id, name), self.kept[project.id, name]
            most = project.pinned.get(name, ask.max if ask.suitability > 0 else 0)
            if gpus % project.granularity:
                yield f"{project.id}, {name}: {gpus} GPUs are no multiple of {project.granularity}"
            if gpus < least:
                yield f"{project.id}, {name}: {gpus} GPUs, below the floor of {least}"
            if gpus > most:
                yield f"{project.id}, {name}: {gpus} GPUs, above the maximum of {most}"
        total = sum(self.gpus(project.id, name) for name in project.models)
        if total > total_of(project):
            yield f"{project.id}: {total} GPUs in all, above the total of {total_of(project)}"

    def _labels(self, project: Project) -> Iterator[str]:
        """Guaranteed part and limit of each pair."""
        has_guarantee = self.instance.rules.guarantee[project.tier]
        for name, ask in project.models.items():
            gpus, quota = self.gpus(project.id, name), self.plan.quotas.get((project.id, name))
            limit = max(ask.max, gpus)
            if quota is None:
                if limit:
                    yield f"{project.id}, {name}: missing in quotas, its limit is {limit}"
                continue
            guaranteed = gpus if has_guarantee else min(gpus, project.pinned.get(name, 0))
            if quota.guaranteed != guaranteed:
                yield f"{project.id}, {name}: guaranteed {quota.guaranteed}, not {guaranteed}"
            if quota.limit != limit:
                yield f"{project.id}, {name}: limit {quota.limit}, not {limit}"

    def _relaxed(self) -> Iterator[str]:
        expected = {}
        for project in self.instance.projects:
            for name, ask in project.models.items():
                wanted, kept = project.pinned.get(name, ask.min), self.kept[project.id, name]
                if kept < wanted:
                    expected[project.id, name] = (wanted, kept, wanted - kept)
        for pair in sorted(expected.keys() | self.plan.relaxed.keys()):
            if expected.get(pair) != self.plan.relaxed.get(pair):
                yield f"{pair[0]}, {pair[1]}: relaxed floor {self.plan.relaxed.get(pair)}, not {expected.get(pair)}"
        if bool(expected) != (self.plan.status is Status.INFEASIBLE_FLOORS):
            yield f"status: {self.plan.status} with {len(expected)} relaxed floors"
        if self.plan.status is Status.FEASIBLE and not self.plan.has_gap:
            yield "status: feasible without a gap"
        if self.plan.status is Status.OPTIMAL and self.plan.has_gap:
            yield "status: optimal with a gap"

    def _numbers(self, project: Project, stated: Stated) -> Iterator[str]:
        """Effective amount and levels belong to the GPUs given."""
        effective = sum(ask.suitability * self.gpus(project.id, name) for name, ask in project.models.items())
        if abs(effective - stated.effective) > _CLOSE:
            yield f"{project.id}: effective {stated.effective}, not {effective}"
        full, weight = full_of(project), self.weight[project.id]
        level = min(effective / (full * weight), 1 / weight) if full > 0 else 0.0
        if abs(level - stated.level) > _CLOSE * (1 + level):
            yield f"{project.id}: level {stated.level}, not {level}"
        if stated.exact_level > (1 / weight) * (1 + _CLOSE):
            yield f"{project.id}: exact_level {stated.exact_level} is above 1 / weight, {1 / weight}"
        owed = stated.exact_level * full * weight * (1 - self.instance.rules.churn_tolerance)
        if stated.entitlement < owed - _CLOSE * (1 + owed):
            yield f"{project.id}: entitlement {stated.entitlement} is below what is owed, {owed}"
        for kind in stated.kinds:
            if kind not in set(Why):
                yield f"{project.id}: unknown kind of reason {shown(kind)}"

    def _entitlement(self, project: Project, stated: Stated) -> Iterator[str]:
        worths = [ask.suitability for name, ask in project.models.items() if project.pinned.get(name, ask.max) > 0]
        missing, close = stated.entitlement - stated.effective, max(_FINE, _CLOSE * max(worths, default=0.0))
        if missing <= project.granularity * max(worths, default=0.0) + close:
            if project.id in self.plan.exceptions:
                yield f"{project.id}: named as an exception, but within one granule of its entitlement"
        elif project.granularity == 1:
            yield f"{project.id}: {missing} effective GPUs below its entitlement, more than one GPU"
        elif project.id not in self.plan.exceptions:
            yield f"{project.id}: {missing} effective GPUs below its entitlement and not named as an exception"
        elif missing > project.granularity * sum(worths) + close:
            yield f"{project.id}: {missing} effective GPUs below its entitlement, more than a granule of each model"

    def _exceptions(self) -> Iterator[str]:
        if len(self.plan.exceptions) > len(self.instance.gpu_models):
            yield f"exceptions: {len(self.plan.exceptions)}, more than the {len(self.instance.gpu_models)} models"
        for name, reason in self.plan.exceptions.items():
            if reason != Why.GRANULARITY:
                yield f"{name}: an exception for {shown(reason)}, not granularity"

    def _row(self, project: Project) -> Row:
        """What the exact levels are judged by, in GPUs of the project's best model."""
        rules, full, weight = self.instance.rules, full_of(project), self.weight[project.id]
        most = {
            name: project.pinned.get(name, ask.max if ask.suitability else 0) for name, ask in project.models.items()
        }
        best = max((ask.suitability for name, ask in project.models.items() if most[name]), default=0.0) or 1.0
        order = -rules.tier_weight[project.tier] if rules.tier_order is TierOrder.STRICT else 0.0
        return Row(
            project.id,
            (not rules.guarantee[project.tier], order),
            self.plan.projects[project.id].exact_level if full else 0.0,
            1 / weight if full else 0.0,
            full * weight / best,
            total_of(project),
            {
                name: (ask.suitability / best, self.kept[project.id, name], most[name])
                for name, ask in project.models.items()
            },
        )

    def _left(self) -> Iterator[str]:
        """No project could take one more granule."""
        left = {model.name: model.usable for model in self.instance.gpu_models}
        for (_project, model), quota in self.plan.quotas.items():
            left[model] = left.get(model, 0) - quota.gpus
        for project in self.instance.projects:
            size = project.granularity
            room = total_of(project) - sum(self.gpus(project.id, name) for name in project.models)
            for name, ask in project.models.items():
                most = project.pinned.get(name, ask.max)
                fits = self.gpus(project.id, name) + size <= most and size <= min(room, left[name])
                if fits and ask.suitability > 0:
                    yield f"{project.id}, {name}: could take {size} more of the {left[name]} GPUs left"

    def _churn(self) -> Iterator[str]:
        changes = [
            self.gpus(project.id, name) - ask.previous
            for project in self.instance.projects
            for name, ask in project.models.items()
        ]
        expected = (sum(map(abs, changes)), sum(-change for change in changes if change < 0))
        if expected != self.plan.churn:
            yield f"churn: moved and taken {self.plan.churn}, not {expected}"
        if not -_CLOSE <= self.plan.tolerance_used <= self.instance.rules.churn_tolerance + _CLOSE:
            yield f"churn: tolerance_used {self.plan.tolerance_used}, not within {self.instance.rules.churn_tolerance}"

    def _fairness(self) -> Iterator[str]:
        """The lowest levels are those of the projects that can use anything."""
        able = [project.id for project in self.instance.projects if full_of(project) > 0]
        stated = [self.plan.projects[name] for name in able if name in self.plan.projects]
        lowest = (
            min((row.exact_level for row in stated), default=None),
            min((row.level for row in stated), default=None),
        )
        for name, said, found in zip(("min_exact_level", "min_level"), self.plan.lowest, lowest, strict=True):
            is_same = said is found if said is None or found is None else abs(said - found) <= _CLOSE * (1 + found)
            if not is_same:
                yield f"fairness: {name} {said}, not {found}"


def _kept_floors(instance: Instance) -> Iterator[tuple[tuple[str, str], int]]:
    """The floors and pins that can be kept, model by model, in the order of rank."""
    rank = {
        project.id: (-instance.rules.tier_weight[project.tier], -project.score, project.id)
        for project in instance.projects
    }
    places = {model.name: place for place, model in enumerate(instance.gpu_models)}
    for model in instance.gpu_models:
        asked = [
            (name not in project.pinned, rank[project.id], project, wanted)
            for project in instance.projects
            for name, wanted in _own_floors(project, places)
            if name == model.name
        ]
        left = model.usable
        for _is_floor, _rank, project, wanted in sorted(asked, key=lambda row: row[:2]):
            kept = min(wanted, left - left % project.granularity)
            left -= kept
            yield (project.id, model.name), kept


def _own_floors(project: Project, places: dict[str, int]) -> Iterator[tuple[str, int]]:
    room = project.max_total - sum(project.pinned.values())
    for name, ask in sorted(project.models.items(), key=lambda item: (-item[1].suitability, places[item[0]])):
        if name in project.pinned:
            yield name, project.pinned[name]
        else:
            kept = max(0, min(ask.min, room))
            room -= kept
            yield name, kept
