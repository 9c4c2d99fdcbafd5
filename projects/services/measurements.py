"""What a project measured on each GPU model: its lead states it, an admin who is not of its people confirms it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.ids import NO_ROW, id_in
from kernel.states import transition
from kernel.unit import unit_of_work
from projects import policies
from projects.errors import NotEditable
from projects.models import Measurement, Project
from projects.services.acts import MAX_REASON, begin, bounded, needed, note
from projects.states import DONE, MeasurementState, ProjectState

MAX_UNIT = 40
MAX_JOB = 60
MOST = Decimal(10) ** 12
_LIVE = (MeasurementState.PROPOSED, MeasurementState.CONFIRMED)


@dataclass(frozen=True, slots=True)
class Stated:
    """``gpu_model`` is a name or id; ``throughput`` None states that the project cannot use the model, and has no
    unit. ``evidence`` is a link or a text; ``job`` the id of a job as text, as its people call it."""

    gpu_model: str
    throughput: Decimal | None
    unit: str = ""
    evidence: str = ""
    job: str = ""


def measurement_state(*, actor: Person | None, project_id: int, stated: Stated) -> Measurement:
    """State a throughput, or that the model cannot be used. A proposal for the same model that still waits is
    superseded; what is confirmed counts until this is confirmed in its place. Locks the project.

    Raises ``Invalid`` by field (unknown model, out of range, no evidence, another unit than the project's other
    models), ``NotEditable`` at the end of a project, ``Forbidden``, ``NotFound``.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "measure")
        _require_open(project)
        model = GpuModel.objects.filter(name=stated.gpu_model).first() or _by_id(stated.gpu_model)
        tidy = _tidied(stated)
        faults = _faults(tidy, model) | ({} if model is None else _unit_faults(project, model, tidy.unit))
        if faults or model is None:
            raise Invalid(faults)
        waiting = _live(project, model, MeasurementState.PROPOSED)
        if waiting is not None:
            _step(waiting, "supersede", someone, "")
        row = Measurement.objects.create(
            project=project,
            gpu_model=model,
            throughput=tidy.throughput,
            unit=tidy.unit,
            evidence=tidy.evidence,
            job=tidy.job,
            stated_by=someone,
            stated_at=clock.now(),
        )
        note(project, "measurement", _plain(waiting) if waiting else None, _plain(row), someone)
        audit.record("measurement.stated", actor=someone, subject=project, after=_plain(row))
    return row


def measurement_withdraw(*, actor: Person | None, measurement_id: int, reason: str = "") -> Measurement:
    """Take back what still waits; a lead's act. Locks the project."""
    return _act(actor, measurement_id, "withdraw", reason)


def measurement_confirm(*, actor: Person | None, measurement_id: int, reason: str = "") -> Measurement:
    """Let it count; what counted for this model before is superseded. Locks the project.

    Raises ``OwnProject`` for the project's people, past ones included; ``IllegalTransition`` on the second click;
    ``Conflict`` where another model counts in another unit.
    """
    return _act(actor, measurement_id, "confirm", reason)


def measurement_reject(*, actor: Person | None, measurement_id: int, reason: str) -> Measurement:
    """Refuse it; the reason is needed. What was confirmed before goes on counting. As ``measurement_confirm``."""
    return _act(actor, measurement_id, "reject", reason)


def measurement_revoke(*, actor: Person | None, measurement_id: int, reason: str) -> Measurement:
    """Let a confirmed one count no more; the reason is needed. As ``measurement_confirm``."""
    return _act(actor, measurement_id, "revoke", reason)


def _act(actor: Person | None, measurement_id: int, event: str, reason: str) -> Measurement:
    with unit_of_work():
        project_id = Measurement.objects.filter(pk=measurement_id).values_list("project_id", flat=True).first()
        if project_id is None:
            raise NotFound
        someone, project = begin(actor, project_id, "measure" if event == "withdraw" else "judge_measurement")
        _require_open(project)
        # Read after the project's lock: whoever came second sees what the first one did.
        row = Measurement.objects.select_related("gpu_model", "stated_by").get(pk=measurement_id)
        Measurement.machine.target(row.state, event)
        why = needed(reason) if event in ("reject", "revoke") else bounded(reason)
        before = _plain(row)
        if event == "confirm":
            _make_room(project, row, someone)
        _step(row, event, someone, why)
        note(project, "measurement", before, _plain(row), someone)
        after = {**_plain(row), "reason": why}
        audit.record(f"measurement.{DONE[event]}", actor=someone, subject=project, before=before, after=after)
    return row


def _make_room(project: Project, row: Measurement, someone: Person) -> None:
    """End what counted for this model; refuse a unit that those of other models do not have."""
    others = Measurement.objects.filter(project=project, state=MeasurementState.CONFIRMED)
    other = others.exclude(gpu_model=row.gpu_model).exclude(unit="").exclude(unit=row.unit).first()
    if other is not None and row.unit:
        text = _("Another model counts in %(unit)s, this one is in %(own)s: the two cannot be compared.")
        raise Conflict(text % {"unit": other.unit, "own": row.unit})
    standing = _live(project, row.gpu_model, MeasurementState.CONFIRMED)
    if standing is not None:
        _step(standing, "supersede", someone, "")


def _step(row: Measurement, event: str, someone: Person, reason: str) -> None:
    """The transition, with who decided it when. What a newer one supersedes keeps who had decided on it."""
    fields: tuple[str, ...] = ()
    if event != "supersede":
        row.decided_by, row.decided_at, row.decision_reason = someone, clock.now(), reason
        fields = ("decided_by", "decided_at", "decision_reason")
    transition(row, event, actor=someone, reason=reason, fields=fields)


def _live(project: Project, model: GpuModel, state: MeasurementState) -> Measurement | None:
    rows = Measurement.objects.filter(project=project, gpu_model=model, state=state)
    return rows.select_related("gpu_model").first()


def _require_open(project: Project) -> None:
    if project.state not in policies.STAFFED:
        text = _("Nothing is measured any more for a project that is %(state)s.")
        raise NotEditable(text % {"state": ProjectState(project.state).label}, data={"state": project.state})


def _by_id(text: str) -> GpuModel | None:
    return GpuModel.objects.filter(pk=id_in(text) or NO_ROW).first()


def _tidied(stated: Stated) -> Stated:
    unit = " ".join(stated.unit.split()) if stated.throughput is not None else ""
    return Stated(stated.gpu_model, stated.throughput, unit, stated.evidence.strip(), " ".join(stated.job.split()))


def _faults(stated: Stated, model: GpuModel | None) -> dict[str, str]:
    faults: dict[str, str] = {}
    if model is None:
        allowed = ", ".join(GpuModel.objects.order_by("name").values_list("name", flat=True)) or _("none yet")
        text = _("There is no GPU model “%(name)s”; there are: %(allowed)s.")
        faults["gpu_model"] = text % {"name": stated.gpu_model[:60], "allowed": allowed}
    if stated.throughput is not None:
        faults |= _number_faults(stated.throughput)
        if not stated.unit:
            faults["unit"] = _("Say in which unit, such as tokens/s or samples/s.")
    if not stated.evidence:
        faults["evidence"] = _("Say how it was measured, or why the model cannot be used: an admin reads it.")
    for field, most in (("unit", MAX_UNIT), ("evidence", MAX_REASON), ("job", MAX_JOB)):
        length = len(getattr(stated, field))
        if length > most:
            text = _("%(count)s characters; at most %(most)s are allowed.")
            faults[field] = text % {"count": length, "most": most}
    return faults


def _number_faults(value: Decimal) -> dict[str, str]:
    """What the column keeps: over 0, under a million millions, six decimals."""
    if value.is_finite() and 0 < value < MOST and value == round(value, 6):
        return {}
    text = _("“%(value)s” is no number over 0 with at most six decimals.")
    return {"throughput": text % {"value": str(value)[:60]}}


def _unit_faults(project: Project, model: GpuModel, unit: str) -> dict[str, str]:
    """All models of a project are in one unit: of each other one, what it would be once all that waits is confirmed."""
    if not unit:
        return {}
    latest: dict[int, Measurement] = {}
    for row in Measurement.objects.filter(project=project, state__in=_LIVE).exclude(gpu_model=model).order_by("pk"):
        latest[row.gpu_model_id] = row
    other = next((row.unit for row in latest.values() if row.unit and row.unit != unit), None)
    if other is None:
        return {}
    text = _("The project's other models are in %(unit)s; give this one in the same unit.")
    return {"unit": text % {"unit": other}}


def _plain(row: Measurement) -> dict[str, Any]:
    throughput = None if row.throughput is None else f"{row.throughput.normalize():f}"
    return {
        "id": row.pk,
        "gpu_model": row.gpu_model.name,
        "throughput": throughput,
        "unit": row.unit,
        "state": row.state,
    }
