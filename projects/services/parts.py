"""The rows that belong to a project: expected compute and milestones. Called with the project locked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.errors import Invalid
from projects.facts import ComputeAsked, Keep, MilestoneAsked
from projects.models import ComputeRequest, Milestone, Project

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ComputePlan:
    """Expected compute as it is and as it is to be; ``rows`` are not saved yet."""

    before: list[Plain]
    after: list[Plain]
    rows: list[ComputeRequest]


def plan_compute(
    project: Project, kept: Iterable[ComputeRequest], asked: Sequence[ComputeAsked], models: Iterable[GpuModel]
) -> ComputePlan:
    """What replacing the expected compute means. Pure. Raises ``Invalid`` for a model that is not among these."""
    rows = [
        ComputeRequest(project=project, gpu_model=model, min=row.min, target=row.target, max=row.max)
        for row, model in zip(asked, _models(asked, models), strict=True)
    ]
    return ComputePlan(_by_model(kept), _by_model(rows), rows)


def set_compute(project: Project, asked: Sequence[ComputeAsked]) -> tuple[list[Plain], list[Plain]]:
    """Replace the expected compute; return it as it was and as it is. Raises ``Invalid`` for an unknown model."""
    kept = project.expected_compute.select_related("gpu_model")
    plan = plan_compute(project, kept, asked, GpuModel.objects.all())
    if plan.before != plan.after:
        project.expected_compute.all().delete()
        ComputeRequest.objects.bulk_create(plan.rows)
    return plan.before, plan.after


@dataclass(frozen=True, slots=True)
class MilestonePlan:
    """Which milestones go, each as it was; which are new or changed, beside what they were. Nothing is saved yet."""

    gone: list[tuple[Plain, Milestone]]
    written: list[tuple[Plain | None, Milestone]]

    def lines(self) -> list[tuple[Plain | None, Plain | None]]:
        """Each difference as (before, after), None for *not there*; once saved, with the ids of new rows."""
        away: list[tuple[Plain | None, Plain | None]] = [(before, None) for before, _row in self.gone]
        return [*away, *((before, plain_milestone(row)) for before, row in self.written)]


def plan_milestones(project: Project, kept: Iterable[Milestone], asked: Sequence[MilestoneAsked]) -> MilestonePlan:
    """What making the milestones those asked for means. The rows of ``kept`` get their new values, unsaved.

    A row is known by its id, else by its name. Raises ``Invalid`` for an id of another project.
    """
    left = {row.pk: row for row in kept}
    by_id = {index: _by_id(index, row, left) for index, row in enumerate(asked) if row.id is not None}
    pairs = [(row, by_id[i] if i in by_id else _by_name(row, left)) for i, row in enumerate(asked)]
    written = []
    for row, found in pairs:
        before = plain_milestone(found) if found else None
        milestone = found or Milestone(project=project)
        milestone.name, milestone.due_on = " ".join(row.name.split()), row.due_on
        if row.met_on is not Keep.KEEP:
            milestone.met_on = row.met_on
        if before is None or before != plain_milestone(milestone):
            written.append((before, milestone))
    return MilestonePlan([(plain_milestone(row), row) for row in left.values()], written)


def set_milestones(project: Project, asked: Sequence[MilestoneAsked]) -> list[tuple[Plain | None, Plain | None]]:
    """Make the milestones those asked for; return each difference as (before, after), None for *not there*.

    Raises ``Invalid`` for an id of another project.
    """
    plan = plan_milestones(project, project.milestones.all(), asked)
    for _gone, row in plan.gone:
        row.delete()
    for _before, row in plan.written:
        row.save()
    return plan.lines()


def _by_id(index: int, asked: MilestoneAsked, left: dict[int, Milestone]) -> Milestone:
    """Take the row of this id out of those left."""
    if asked.id is None or asked.id not in left:
        raise Invalid({f"milestones.{index}.id": _("%(id)s is no milestone of this project.") % {"id": asked.id}})
    return left.pop(asked.id)


def _by_name(asked: MilestoneAsked, left: dict[int, Milestone]) -> Milestone | None:
    """Take the row of this name out of those left, if there is one."""
    name = " ".join(asked.name.split()).casefold()
    found = next((row for row in left.values() if row.name.casefold() == name), None)
    return left.pop(found.pk) if found else None


def _models(asked: Sequence[ComputeAsked], models: Iterable[GpuModel]) -> list[GpuModel]:
    """The GPU models named, by name or id, each once."""
    by_name = {model.name: model for model in models}
    known = {**{str(model.pk): model for model in by_name.values()}, **by_name}
    faults, found = {}, []
    for index, row in enumerate(asked):
        model = known.get(row.gpu_model)
        if model is None:
            allowed = ", ".join(sorted(by_name)) or _("none yet")
            text = _("There is no GPU model “%(name)s”; there are: %(allowed)s.")
            faults[f"expected_compute.{index}.gpu_model"] = text % {"name": row.gpu_model[:60], "allowed": allowed}
        elif model in found:
            faults[f"expected_compute.{index}.gpu_model"] = _("“%(name)s” is listed twice.") % {"name": model.name}
        else:
            found.append(model)
    if faults:
        raise Invalid(faults)
    return found


def _by_model(rows: Iterable[ComputeRequest]) -> list[Plain]:
    return sorted((_plain_compute(row) for row in rows), key=lambda row: row["gpu_model"])


def _plain_compute(row: ComputeRequest) -> Plain:
    return {"gpu_model": row.gpu_model.name, "min": row.min, "target": row.target, "max": row.max}


def plain_milestone(row: Milestone) -> Plain:
    met_on = row.met_on.isoformat() if row.met_on else None
    return {"id": row.pk, "name": row.name, "due_on": row.due_on.isoformat(), "met_on": met_on}
