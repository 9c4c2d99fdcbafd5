"""How fast each GPU model is for each project: the catalogue's default, or what the project measured (REG1).

A measured throughput says nothing by itself: its unit is the project's own. So it is compared with another of the
same project. Of the models with a confirmed throughput the one with the highest default is the reference and keeps its
default; every other one is that default times the ratio of the throughputs. One alone changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from django.db.models import QuerySet

from accounts.models import Person, Role
from accounts.policies import has_role
from inventory.models import GpuModel
from projects import policies
from projects.models import Measurement, Project
from projects.states import MeasurementState

Source = Literal["catalogue", "measured", "excluded"]
PLACES = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Suitability:
    """``value`` relative to an H100, 0: cannot use it. ``reference`` is the GPU model that it is measured against."""

    value: Decimal
    source: Source
    default: Decimal
    measurement: Measurement | None = None
    reference: GpuModel | None = None

    @property
    def is_alone(self) -> bool:
        """A confirmed throughput with none to compare it with: it changes nothing yet."""
        return self.source == "catalogue" and self.measurement is not None


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One GPU model of a project's table: what counts, what is proposed beside it, and what came before."""

    gpu_model: GpuModel
    now: Suitability
    proposed: Measurement | None

    @property
    def latest(self) -> Measurement | None:
        """What there is to say of it: the proposal that waits, else what counts."""
        return self.proposed or self.now.measurement


def suitability_of(project_ids: Iterable[int]) -> dict[tuple[int, int], Suitability]:
    """Of every GPU model for each of these projects, by project and model. Two statements, however many."""
    models = {model.pk: model for model in GpuModel.objects.order_by("name")}
    wanted = list(project_ids)
    confirmed: dict[int, list[Measurement]] = defaultdict(list)
    for row in _with_people(Measurement.objects.filter(project__in=wanted, state=MeasurementState.CONFIRMED)):
        confirmed[row.project_id].append(row)
    return {
        (project_id, model_id): found
        for project_id in wanted
        for model_id, found in computed(models, confirmed[project_id]).items()
    }


def computed(models: Mapping[int, GpuModel], confirmed: Iterable[Measurement]) -> dict[int, Suitability]:
    """The rule, for one project's confirmed measurements; by model. Pure. Ties of the reference go by name."""
    by_model = {row.gpu_model_id: row for row in confirmed}
    measured = [models[pk] for pk, row in by_model.items() if not row.excludes]
    reference = min(measured, key=lambda model: (-model.suitability, model.name), default=None)
    if reference is not None and (len(measured) == 1 or not reference.suitability):
        reference = None
    unit = by_model[reference.pk].throughput if reference else None
    return {pk: _one(model, by_model.get(pk), reference, unit) for pk, model in models.items()}


def _one(model: GpuModel, row: Measurement | None, reference: GpuModel | None, unit: Decimal | None) -> Suitability:
    default = model.suitability
    if row is None:
        return Suitability(default, "catalogue", default)
    if row.throughput is None:
        return Suitability(Decimal(0), "excluded", default, row)
    if reference is None or unit is None:
        return Suitability(default, "catalogue", default, row)
    value = (reference.suitability * row.throughput / unit).quantize(PLACES)
    # Rounding makes nobody unable to use what they measured.
    return Suitability(max(value, PLACES), "measured", default, row, reference)


def model_lines(project: Project) -> list[ModelLine]:
    """The project's table, fastest model first. Three statements."""
    found = suitability_of([project.pk])
    proposed = _with_people(Measurement.objects.filter(project=project, state=MeasurementState.PROPOSED))
    by_model = {row.gpu_model_id: row for row in proposed}
    models = GpuModel.objects.order_by("-suitability", "name")
    return [ModelLine(model, found[project.pk, model.pk], by_model.get(model.pk)) for model in models]


def difference(row: Measurement, event: str) -> list[tuple[GpuModel, Decimal, Decimal]]:
    """The models whose suitability a step of this measurement would change: model, before, after."""
    models = {model.pk: model for model in GpuModel.objects.order_by("name")}
    standing = list(Measurement.objects.filter(project=row.project_id, state=MeasurementState.CONFIRMED))
    after = standing
    if event == "confirm":
        after = [*(other for other in standing if other.gpu_model_id != row.gpu_model_id), row]
    elif event == "revoke":
        after = [other for other in standing if other.pk != row.pk]
    old, new = computed(models, standing), computed(models, after)
    changed = [pk for pk in models if old[pk].value != new[pk].value]
    return [(models[pk], old[pk].value, new[pk].value) for pk in changed]


def measurements(project: Project) -> QuerySet[Measurement]:
    """Everything that the project ever stated, newest first."""
    return _with_people(Measurement.objects.filter(project=project)).order_by("-stated_at", "-pk")


def measurements_to_judge(person: object) -> QuerySet[Measurement]:
    """What waits for this admin's confirmation, oldest first; nothing of projects that they are or were part of."""
    rows = _with_people(Measurement.objects.filter(state=MeasurementState.PROPOSED)).select_related("project")
    if not isinstance(person, Person) or not has_role(person, Role.ADMIN):
        return rows.none()
    rows = rows.filter(project__in=policies.visible_to(person), project__state__in=policies.STAFFED)
    return rows.exclude(project__in=policies.own_of(person)).order_by("stated_at", "pk")


def _with_people(rows: QuerySet[Measurement]) -> QuerySet[Measurement]:
    return rows.select_related("gpu_model", "stated_by", "decided_by")
