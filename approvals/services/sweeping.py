"""What time does to approvals: reminders, other people who may decide, and whom it falls to now."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db.models import prefetch_related_objects

from approvals import telling
from approvals.deciders import current_steps, deciders
from approvals.models import Approval, Step
from approvals.services.leaving import reopen
from approvals.services.path import void_votes
from approvals.states import ApprovalState
from kernel import clock
from kernel.unit import lock, unit_of_work

_log = structlog.get_logger(__name__)


def sweep() -> int:
    """Remind who has not answered in time, let others decide after as long again, and tell whom it falls to.

    Running it twice tells nobody twice; a run that was missed is caught up by the next. Returns how many approvals
    were looked at. A constant number of statements, and some for each in which a vote lapses; only if something fails
    is each approval taken alone, so that the one that fails does not keep the others.
    """
    ids = list(Approval.objects.filter(state=ApprovalState.WAITING).order_by("pk").values_list("pk", flat=True))
    try:
        with unit_of_work():
            _look_at(ids)
    except Exception:  # noqa: BLE001 - the edge of the run: taken one by one then
        _log.exception("approvals_sweep_failed")
        for pk in ids:
            _alone(pk)
    return len(ids)


def _alone(pk: int) -> None:
    try:
        with unit_of_work():
            _look_at([pk])
    except Exception:  # noqa: BLE001 - the edge of one approval
        _log.exception("approval_sweep_failed", approval=pk)


def _look_at(ids: Sequence[int]) -> None:
    """Under their locks: what is decided meanwhile is not told of any more."""
    now = clock.now()
    rows = [row for row in lock({Approval: ids})[Approval].values() if row.state == ApprovalState.WAITING]
    prefetch_related_objects(rows, "requester")
    _judge_votes(rows)
    steps = current_steps(rows)
    pairs = {row.pk: (row, steps[row.pk]) for row in rows if row.pk in steps}
    late = [step for _row, step in pairs.values() if step.due_at is not None and step.due_at <= now]
    reminded = _mark("reminded_at", [step for step in late if step.reminded_at is None], now)
    stuck_before = deciders(rows, steps)
    overdue = [step for step in late if _is_long_overdue(step, now) or not stuck_before[step.approval_id]]
    stuck = [step for pk, (_row, step) in pairs.items() if not stuck_before[pk] and step not in overdue]
    open_up = [step for step in (*overdue, *stuck) if step.escalate_to and step.escalated_at is None]
    escalated = _mark("escalated_at", open_up, now)
    found = deciders(rows, steps) if escalated else stuck_before
    telling.tell_deciders({pk: found[pk] for pk in pairs}, pairs)
    # One that others may decide at once, because nobody else can, is not late for that.
    again = {step.approval_id for step in escalated if step in overdue}
    telling.tell_overdue({pk: found[pk] for pk in again}, pairs, occasion="escalated")
    first = {step.approval_id for step in reminded} - again
    telling.tell_overdue({pk: found[pk] for pk in first}, pairs, occasion="due")
    telling.tell_unroutable([pair for pk, pair in pairs.items() if not found[pk]])


def _judge_votes(rows: Sequence[Approval]) -> None:
    """Votes that could not be given now lapse, whatever came between: nobody decides the next step for nothing."""
    void = void_votes(rows)
    reopen([row for row in rows if row.pk in void], None)


def _is_long_overdue(step: Step, now: datetime) -> bool:
    """Nobody answered for twice the time they had."""
    return step.due_at is not None and step.due_at + timedelta(hours=step.answer_hours) <= now


def _mark(field: str, steps: Sequence[Step], now: datetime) -> list[Step]:
    """Write the instant; the approvals are locked."""
    if not steps:
        return []
    Step.objects.filter(pk__in=[step.pk for step in steps]).update(**{field: now})
    for step in steps:
        setattr(step, field, now)
    return list(steps)
