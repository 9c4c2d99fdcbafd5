"""What fields, events and values of the registry are called on screens."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernel.formats import number
from projects.models import DataClass, Kind, Measurement, ProjectRole, Stage, Tier
from projects.states import MeasurementState, ProjectState

FIELDS: dict[str, str | Promise] = {
    "name": gettext_lazy("Name"),
    "goal": gettext_lazy("Goal"),
    "kind": gettext_lazy("Kind"),
    "stage": gettext_lazy("Stage"),
    "area": gettext_lazy("Research area"),
    "data_class": gettext_lazy("Data class"),
    "breakthrough": gettext_lazy("Breakthrough potential"),
    "datasets": gettext_lazy("Datasets"),
    "expected_compute": gettext_lazy("Expected compute"),
    "milestones": gettext_lazy("Milestones"),
    "milestone": gettext_lazy("Milestone"),
    "measurement": gettext_lazy("Suitability"),
    "member": gettext_lazy("Team"),
    "team": gettext_lazy("Team"),
    "tier": gettext_lazy("Tier"),
    "created": gettext_lazy("Registered as a draft"),
    "submit": gettext_lazy("Submitted"),
    "withdraw": gettext_lazy("Withdrawn"),
    "approve": gettext_lazy("Approved"),
    "reject": gettext_lazy("Rejected"),
    "return": gettext_lazy("Returned"),
    "suspend": gettext_lazy("Suspended"),
    "resume": gettext_lazy("Resumed"),
    "close": gettext_lazy("Closed"),
}
_CHOICES: dict[str, Any] = {"kind": Kind, "stage": Stage, "data_class": DataClass, "tier": Tier}


def word(what: str) -> str:
    """The word for a field or an event."""
    return str(FIELDS.get(what, what))


def measured(row: Measurement) -> str:
    """What a measurement states: 1 200 tokens/s."""
    if row.throughput is None:
        return _("cannot be used")
    places = -int(row.throughput.normalize().as_tuple().exponent)
    return f"{number(row.throughput, max(places, 0))} {row.unit}"


def value(field: str, raw: Any) -> str:
    """A value of the history in words; nothing is a dash."""
    if raw in (None, "", []):
        return "–"
    if field in _CHOICES and raw in _CHOICES[field].values:
        return str(_CHOICES[field](raw).label)
    if field == "member":
        return f"{raw['person']}, {ProjectRole(raw['role']).label}"
    if field == "milestone":
        return _milestone(raw)
    if field == "measurement":
        return _measurement(raw)
    if field == "expected_compute":
        return "; ".join(f"{row['gpu_model']} {row['min']} / {row['target']} / {row['max']}" for row in raw)
    if isinstance(raw, list):
        return ", ".join(str(item) for item in raw)
    if raw in ProjectState.values:
        return str(ProjectState(raw).label)
    return str(raw)


def _milestone(raw: dict[str, Any]) -> str:
    due = _("%(name)s, due %(day)s") % {"name": raw["name"], "day": raw["due_on"]}
    return due if raw["met_on"] is None else due + ", " + _("met %(day)s") % {"day": raw["met_on"]}


def _measurement(raw: dict[str, Any]) -> str:
    state = MeasurementState(raw["state"]).label
    if raw["throughput"] is None:
        return _("%(model)s: cannot be used, %(state)s") % {"model": raw["gpu_model"], "state": state}
    said = {"model": raw["gpu_model"], "value": raw["throughput"], "unit": raw["unit"], "state": state}
    return _("%(model)s: %(value)s %(unit)s, %(state)s") % said
