"""Drafting a quota request: created, edited, cloned, discarded. Only a lead of an active project asks (ACC2, REG2).

Order of locks: approval, project, GPU model, request.
"""

from datetime import UTC, datetime
from typing import Any, TypedDict

from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.kinds import Locked
from approvals.models import Approval
from approvals.services import approval_withdraw, lock_with_open, opened
from inventory.models import GpuModel
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.intervals import Interval
from kernel.states import transition
from kernel.subject import Actor
from kernel.unit import lock, unit_of_work
from projects import policies
from projects.models import Project
from projects.services.acts import as_now, bounded
from quotas.errors import RequestChanged, RequestNotEditable
from quotas.models import QuotaRequest
from quotas.requests.checks import shape_faults
from quotas.requests.content import changed_words, content_hash
from quotas.requests.selectors import KIND, visible_requests
from quotas.services.claims import require_active
from quotas.states import DONE, EDITABLE, OPEN, RequestState


class RequestFacts(TypedDict, total=False):
    """What is stated of a request: totals in whole GPUs. What is absent stays as it is; None takes it back."""

    gpu_model_id: int | None
    guaranteed: int | None
    limit: int | None
    least: int | None
    starts_at: datetime | None
    ends_at: datetime | None
    reason: str


FIELDS = ("gpu_model_id", "guaranteed", "limit", "least", "starts_at", "ends_at", "reason")


def request_create(*, actor: Person | None, project_id: int, facts: RequestFacts | None = None) -> QuotaRequest:
    """A draft for a project. Raises ``NotFound``, ``Forbidden``, ``NoResources`` (REG2), ``Invalid``."""
    with unit_of_work():
        someone = as_now(actor)
        project: Project = lock({Project: [project_id]})[Project][project_id]
        policies.require(someone, "request_quota", project)
        return create_locked(project, someone, facts or {})


def create_locked(project: Project, someone: Person, facts: RequestFacts) -> QuotaRequest:
    """The same in a unit that holds the project's lock, for somebody who may."""
    require_active(project)
    now = clock.now()
    row = QuotaRequest(project=project, created_by=someone, created_at=now, updated_at=now)
    _assign(row, facts, now)
    row.save(force_insert=True)
    audit.record("quota_request.created", actor=someone, subject=row, after=plain(row))
    return row


def request_edit(
    *, actor: Person | None, request_id: int, facts: RequestFacts, seen: str | None = None
) -> QuotaRequest:
    """Change a draft, or a request that was asked back. Locks project and request.

    ``seen``: the content hash that was edited. Raises ``NotFound``, ``Forbidden``, ``RequestNotEditable``,
    ``RequestChanged``, ``Invalid``.
    """
    with unit_of_work():
        someone, row = begin(actor, request_id)
        edit_locked(row, someone, facts, seen)
    return row


def edit_locked(row: QuotaRequest, someone: Person, facts: RequestFacts, seen: str | None = None) -> None:
    """The same in a unit that holds the request's lock, for somebody who may."""
    require_editable(row)
    if seen is not None:
        now = content_hash(row)
        if seen != now:
            raise RequestChanged(data={"changed": changed_words(seen, now), "content": now})
    before = plain(row)
    _assign(row, facts, clock.now())
    row.updated_at = clock.now()
    row.save(update_fields=[*FIELDS, "updated_at"])
    after = plain(row)
    if after != before:
        audit.record("quota_request.edited", actor=someone, subject=row, before=before, after=after)


def request_clone(*, actor: Person | None, request_id: int) -> QuotaRequest:
    """A new draft that asks for the same, whatever became of the first. What of its window has passed is left out,
    and so are its files. Raises as ``request_create``."""
    with unit_of_work():
        someone, row = begin(actor, request_id)
        now = clock.now()
        facts: RequestFacts = {
            "gpu_model_id": row.gpu_model_id,
            "guaranteed": row.guaranteed,
            "limit": row.limit,
            "least": row.least,
            "starts_at": _ahead(row.starts_at, now),
            "ends_at": _ahead(row.ends_at, now),
            "reason": row.reason,
        }
        require_active(row.project)
        copy = QuotaRequest(project=row.project, created_by=someone, created_at=now, updated_at=now, cloned_from=row)
        _assign(copy, facts, now, is_checked=False)
        copy.save(force_insert=True)
        audit.record("quota_request.created", actor=someone, subject=copy, after=plain(copy))
    return copy


def request_discard(*, actor: Person | None, request_id: int) -> QuotaRequest:
    """Give up a draft, and its files with it. Raises ``Conflict`` for what was submitted: that is withdrawn."""
    with unit_of_work():
        someone, row = begin(actor, request_id)
        if row.state != RequestState.DRAFT:
            raise Conflict(_("Only a draft is discarded; withdraw what was submitted."), data={"state": row.state})
        _withdraw(row, None, someone, "")
    return row


def request_withdraw(*, actor: Person | None, request_id: int, reason: str = "") -> QuotaRequest:
    """Take back what is not decided, or a draft. What was granted before stays. Locks approval, project and request.

    Raises ``NotFound``, ``Forbidden``, ``IllegalTransition``.
    """
    with unit_of_work():
        someone, row, approval = begin_with_approval(actor, request_id)
        _withdraw(row, approval, someone, bounded(reason))
    return row


def request_withdraw_by_portal(*, request_id: int, reason: str) -> bool:
    """For a project that closed: nobody's right is asked. Whether it was open; doing it again changes nothing."""
    with unit_of_work():
        found = QuotaRequest.objects.filter(pk=request_id).values_list("project_id", flat=True)
        locked = lock_with_open(KIND, request_id, {Project: found, QuotaRequest: [request_id]})
        row: QuotaRequest = locked[QuotaRequest][request_id]
        if row.state not in OPEN:
            return False
        _withdraw(row, opened(locked), None, reason)
    return True


def begin(actor: Person | None, request_id: int) -> tuple[Person, QuotaRequest]:
    """Lock project and request for an act of the project's lead, judged as rights are now."""
    someone, wanted = _wanted(actor, request_id)
    return someone, _led(someone, request_id, lock(wanted))


def begin_with_approval(actor: Person | None, request_id: int) -> tuple[Person, QuotaRequest, Approval | None]:
    """The same with the open approval locked, where there is one."""
    someone, wanted = _wanted(actor, request_id)
    locked = lock_with_open(KIND, request_id, wanted)
    return someone, _led(someone, request_id, locked), opened(locked)


def require_editable(row: QuotaRequest) -> None:
    if row.state not in EDITABLE:
        raise RequestNotEditable(data={"state": row.state})


def step(row: QuotaRequest, event: str, actor: Actor, reason: str = "", fields: tuple[str, ...] = ()) -> None:
    """The transition with its history row, and the audit entry."""
    before = row.state
    row.updated_at = clock.now()
    transition(row, event, actor=actor, reason=reason, fields=("updated_at", *fields))
    after = {**plain(row), "state": row.state, "reason_given": reason}
    action = f"quota_request.{DONE[event]}"
    audit.record(action, actor=actor, subject=row, before={"state": before}, after=after)


def plain(row: QuotaRequest) -> dict[str, Any]:
    """What the audit log keeps of a request."""
    return {"project": row.project_id, **{field: getattr(row, field) for field in FIELDS}}


def _wanted(actor: Person | None, request_id: int) -> tuple[Person, dict[type[Model], list[int]]]:
    """The actor as now, and the rows that an act of theirs on a request locks."""
    someone = as_now(actor)
    found = visible_requests(someone).filter(pk=request_id).first()
    if found is None:
        raise NotFound
    return someone, {Project: [found.project_id], QuotaRequest: [request_id]}


def _led(someone: Person, request_id: int, locked: Locked) -> QuotaRequest:
    """The locked request, which this person may act on."""
    row: QuotaRequest = locked[QuotaRequest][request_id]
    row.project = locked[Project][row.project_id]
    policies.require(someone, "request_quota", row.project)
    return row


def _withdraw(row: QuotaRequest, approval: Approval | None, actor: Person | None, reason: str) -> None:
    if row.submitted_at is None:
        # Nobody was asked: what was to speak for it goes with it.
        row.attachments.all().delete()
    step(row, "withdraw", actor, reason)
    if approval is not None:
        approval_withdraw(actor=actor, approval=approval, reason=reason)


def _assign(row: QuotaRequest, facts: RequestFacts, now: datetime, *, is_checked: bool = True) -> None:
    """Put what is stated on the row, unsaved. Raises ``Invalid``."""
    for field in FIELDS:
        if field in facts:
            value = facts[field]  # type: ignore[literal-required]  # FIELDS names its keys
            setattr(row, field, value.astimezone(UTC) if isinstance(value, datetime) else value)
    row.reason = row.reason.strip()
    row.gpu_model = GpuModel.objects.filter(pk=row.gpu_model_id).first() if row.gpu_model_id else None
    if facts.get("gpu_model_id") and row.gpu_model is None:
        raise Invalid({"gpu_model": _("There is no GPU model %(id)s.") % {"id": facts["gpu_model_id"]}})
    stated = {field.removesuffix("_id") for field in facts}
    faults = shape_faults(row, stated, now) if is_checked else {}
    if faults:
        raise Invalid(faults)


def _ahead(at: datetime | None, now: datetime) -> datetime | None:
    """An instant of a window that can still be asked for."""
    return at if at is not None and Interval(now).contains(at) else None
