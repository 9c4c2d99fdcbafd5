"""What a person may state about a project, and what cannot be taken. Pure. A draft may lack anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, TypedDict

from django.utils.translation import gettext as _

from kernel.errors import Invalid
from projects.models import DataClass, Kind, Stage

MAX_NAME = 200
MAX_TEXT = 20_000
MAX_GPUS = 100_000
MAX_BREAKTHROUGH = 10
MAX_ROWS = 100


@dataclass(frozen=True, slots=True)
class ComputeAsked:
    """Expected compute on one GPU model (its name or id), in whole GPUs."""

    gpu_model: str
    min: int
    target: int
    max: int


class Keep(Enum):
    """Said of nothing: it stays as it is."""

    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class MilestoneAsked:
    """``id`` names a milestone that exists; without it one of the same name is meant, or a new one."""

    name: str
    due_on: date
    met_on: date | Keep | None = Keep.KEEP
    id: int | None = None


class Facts(TypedDict, total=False):
    """What is stated; what is absent stays as it is. ``area`` is a name or None."""

    name: str
    goal: str
    kind: str
    stage: str
    area: str | None
    data_class: str
    breakthrough: int | None
    datasets: list[str]
    expected_compute: list[ComputeAsked]
    milestones: list[MilestoneAsked]


SCALARS = ("name", "goal", "kind", "stage", "area", "data_class", "breakthrough", "datasets")
CLASSIFYING = frozenset({"kind", "area", "data_class"})
"""What an approval fixed: afterwards an admin changes it, not the lead."""


def tidied(facts: Facts, *, today: date) -> Facts:
    """The same facts without stray blanks and doubles. Raises ``Invalid`` naming every fault by field."""
    tidy: Any = dict(facts)
    if "name" in tidy:
        tidy["name"] = " ".join(tidy["name"].split())
    if "datasets" in tidy:
        tidy["datasets"] = list(dict.fromkeys(line.strip() for line in tidy["datasets"] if line.strip()))
    faults = {**_text_faults(tidy), **_choice_faults(tidy), **_number_faults(tidy)}
    faults |= _compute_faults(tidy.get("expected_compute", [])) | _milestone_faults(tidy.get("milestones", []), today)
    if faults:
        raise Invalid(faults)
    result: Facts = tidy
    return result


def _text_faults(facts: Mapping[str, Any]) -> dict[str, str]:
    faults = {}
    limits = {"name": MAX_NAME, "goal": MAX_TEXT}
    for field, most in limits.items():
        if len(facts.get(field, "")) > most:
            faults[field] = _too_long(facts[field], most)
    for index, line in enumerate(facts.get("datasets", [])):
        if len(line) > MAX_NAME:
            faults[f"datasets.{index}"] = _too_long(line, MAX_NAME)
    if len(facts.get("datasets", [])) > MAX_ROWS:
        faults["datasets"] = _too_many(facts["datasets"])
    return faults


def _choice_faults(facts: Mapping[str, Any]) -> dict[str, str]:
    allowed = {"kind": Kind.values, "data_class": DataClass.values, "stage": ["", *Stage.values]}
    return {
        field: _("“%(value)s” is not one of: %(allowed)s.")
        % {"value": str(facts[field])[:60], "allowed": ", ".join(value for value in values if value)}
        for field, values in allowed.items()
        if field in facts and facts[field] not in values
    }


def _number_faults(facts: Mapping[str, Any]) -> dict[str, str]:
    value = facts.get("breakthrough")
    if value is None or 0 <= value <= MAX_BREAKTHROUGH:
        return {}
    text = _("%(value)s is not a whole number from 0 to %(most)s.") % {"value": value, "most": MAX_BREAKTHROUGH}
    return {"breakthrough": text}


def _compute_faults(rows: Sequence[ComputeAsked]) -> dict[str, str]:
    faults, seen = {}, set()
    for index, row in enumerate(rows):
        at = f"expected_compute.{index}"
        if row.gpu_model in seen:
            faults[f"{at}.gpu_model"] = _("“%(name)s” is listed twice.") % {"name": row.gpu_model[:60]}
        elif not 0 <= row.min <= row.target <= row.max:
            faults[f"{at}.target"] = _(
                "At least %(min)s, target %(target)s, at most %(max)s: none may be less than the one before it."
            ) % {
                "min": row.min,
                "target": row.target,
                "max": row.max,
            }
        elif not 1 <= row.max <= MAX_GPUS:
            faults[f"{at}.max"] = _("%(value)s GPUs; 1 to %(most)s are allowed.") % {"value": row.max, "most": MAX_GPUS}
        seen.add(row.gpu_model)
    if len(rows) > MAX_ROWS:
        faults["expected_compute"] = _too_many(rows)
    return faults


def _milestone_faults(rows: Sequence[MilestoneAsked], today: date) -> dict[str, str]:
    faults, seen = {}, set()
    for index, row in enumerate(rows):
        at, name = f"milestones.{index}", " ".join(row.name.split())
        if not name:
            faults[f"{at}.name"] = _("A milestone needs a name.")
        elif len(name) > MAX_NAME:
            faults[f"{at}.name"] = _too_long(name, MAX_NAME)
        elif name.casefold() in seen:
            faults[f"{at}.name"] = _("“%(name)s” is listed twice.") % {"name": name[:60]}
        elif isinstance(row.met_on, date) and row.met_on > today:
            faults[f"{at}.met_on"] = _("%(day)s has not come yet.") % {"day": row.met_on.isoformat()}
        seen.add(name.casefold())
    if len(rows) > MAX_ROWS:
        faults["milestones"] = _too_many(rows)
    return faults


def _too_long(value: str, most: int) -> str:
    return _("%(count)s characters; at most %(most)s are allowed.") % {"count": len(value), "most": most}


def _too_many(rows: Sequence[Any]) -> str:
    return _("%(count)s rows; at most %(most)s are allowed.") % {"count": len(rows), "most": MAX_ROWS}
