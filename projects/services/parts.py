"""The rows that belong to a project: expected compute and milestones. Called with the project locked."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.errors import Invalid
from projects.facts import ComputeAsked, Keep, MilestoneAsked
from projects.models import ComputeRequest, Milestone, Project

Plain = dict[str, Any]


def set_compute(project: Project, asked: Sequence[ComputeAsked]) -> tuple[list[Plain], list[Plain]]:
    """Replace the expected compute; return it as it was and as it is. Raises ``Invalid`` for an unknown model."""
    models = _models(asked)
    before = _compute(project)
    wanted = [
        ComputeRequest(project=project, gpu_model=model, min=row.min, target=row.target, max=row.max)
        for row, model in zip(asked, models, strict=True)
    ]
    after = sorted((_plain_compute(row) for row in wanted), key=lambda row: row["gpu_model"])
    if before != after:
        project.expected_compute.all().delete()
        ComputeRequest.objects.bulk_create(wanted)
    return before, after


def set_milestones(project: Project, asked: Sequence[MilestoneAsked]) -> list[tuple[Plain | None, Plain | None]]:
    """Make the milestones those asked for; return each difference as (before, after), None for *not there*.

    A row is known by its id, else by its name. Raises ``Invalid`` for an id of another project.
    """
    left = {row.pk: row for row in project.milestones.all()}
    by_id = {index: _by_id(index, row, left) for index, row in enumerate(asked) if row.id is not None}
    pairs = [(row, by_id[i] if i in by_id else _by_name(row, left)) for i, row in enumerate(asked)]
    changes: list[tuple[Plain | None, Plain | None]] = []
    for gone in left.values():
        changes.append((_plain_milestone(gone), None))
        gone.delete()
    for row, kept in pairs:
        before = _plain_milestone(kept) if kept else None
        milestone = kept or Milestone(project=project)
        milestone.name, milestone.due_on = " ".join(row.name.split()), row.due_on
        if row.met_on is not Keep.KEEP:
            milestone.met_on = row.met_on
        if before is None or before != _plain_milestone(milestone):
            milestone.save()
            changes.append((before, _plain_milestone(milestone)))
    return changes


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


def _models(asked: Sequence[ComputeAsked]) -> list[GpuModel]:
    """The GPU models named, by name or id, each once."""
    by_name = {model.name: model for model in GpuModel.objects.all()}
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


def _compute(project: Project) -> list[Plain]:
    rows = project.expected_compute.select_related("gpu_model").order_by("gpu_model__name")
    return [_plain_compute(row) for row in rows]


def _plain_compute(row: ComputeRequest) -> Plain:
    return {"gpu_model": row.gpu_model.name, "min": row.min, "target": row.target, "max": row.max}


def _plain_milestone(row: Milestone) -> Plain:
    met_on = row.met_on.isoformat() if row.met_on else None
    return {"id": row.pk, "name": row.name, "due_on": row.due_on.isoformat(), "met_on": met_on}
