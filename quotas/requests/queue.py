"""What lists show of quota requests: before and after, and whether it fits. A constant number of statements."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from approvals.kinds import QueueRow
from approvals.models import Approval
from kernel.calendar import local_day
from kernel.formats import day, number
from kernel.intervals import Interval
from quotas.ledger import LedgerStep, steps, tightest_part
from quotas.models import QuotaRequest
from quotas.requests.asking import Asked, Holdings, asked_of, holdings
from quotas.selectors import model_facts

Course = Sequence[LedgerStep]


def rows(approvals: Sequence[Approval], now: datetime) -> Mapping[int, QueueRow]:
    """One line of each, by approval. What is decided is shown as it was when it was submitted."""
    requests = QuotaRequest.objects.select_related("gpu_model", "project").in_bulk(
        [row.subject_id for row in approvals]
    )
    waiting = [requests[row.subject_id] for row in approvals if row.is_open]
    held = holdings({(row.project_id, row.gpu_model_id or 0) for row in waiting}, now)
    facts = model_facts(sorted({row.gpu_model_id or 0 for row in waiting}), Interval(now)) if waiting else {}
    courses = {pk: steps(found, Interval(now)) for pk, found in facts.items()}
    found = {}
    for approval in approvals:
        request = requests[approval.subject_id]
        if approval.is_open:
            key = (request.project_id, request.gpu_model_id or 0)
            found[approval.pk] = _waiting(approval, request, held[key], courses[key[1]], now)
        else:
            found[approval.pk] = _decided(approval, request)
    return found


def _waiting(approval: Approval, request: QuotaRequest, held: Holdings, course: Course, now: datetime) -> QueueRow:
    asked = asked_of(request, approval.changes)
    window = asked.window(now)
    if window is None:
        return _decided(approval, request)
    before = held.replaced_through(asked, window)[0]
    more, free = _tightest_need(asked, held, course, window)
    return QueueRow(
        icon="quotas",
        what=_what(asked, asked.totals.guaranteed - before.guaranteed),
        title=request.project.name,
        gpu_model=request.gpu_model.title if request.gpu_model else "",
        before=amounts(before.guaranteed, before.shown_limit),
        after=amounts(asked.totals.guaranteed, asked.totals.limit),
        asked_more=max(0, more),
        free=max(0, free) if more > 0 else None,
    )


def _tightest_need(asked: Asked, held: Holdings, course: Course, window: Interval) -> tuple[int, int]:
    """How much it adds where that leaves least, and what is free there; nothing more gives 0 or less."""
    adds = held.added(asked, window)
    found = [(gpus, tightest_part(course, during).free) for during, gpus in adds if gpus > 0]
    if not found:
        return max(gpus for _during, gpus in adds), 0
    return min(found, key=lambda pair: pair[1] - pair[0])


def _decided(approval: Approval, request: QuotaRequest) -> QueueRow:
    kept = approval.summary
    guaranteed, limit = kept["guaranteed"], kept["limit"]
    if request.granted_guaranteed is not None:
        guaranteed, limit = request.granted_guaranteed, request.granted_limit
    asked = asked_of(request, approval.changes)
    return QueueRow(
        icon="quotas",
        what=_what(asked, guaranteed - kept["held_guaranteed"]),
        title=request.project.name,
        gpu_model=kept["gpu_model"],
        before=amounts(kept["held_guaranteed"], kept["held_limit"]),
        after=amounts(guaranteed, limit),
        asked_more=max(0, guaranteed - kept["held_guaranteed"]),
    )


def _what(asked: Asked, more: int) -> str:
    if asked.ends_at is not None:
        return _("Raise until %(day)s") % {"day": day(local_day(asked.ends_at))}
    if more < 0:
        return _("Gives back")
    return _("Raise") if more > 0 else _("Other limit")


def amounts(guaranteed: int, limit: int | None) -> str:
    """Guarantee and limit in few characters: ``8, limit 16``."""
    if limit is None:
        return _("%(guaranteed)s, no limit") % {"guaranteed": number(guaranteed)}
    return _("%(guaranteed)s, limit %(limit)s") % {"guaranteed": number(guaranteed), "limit": number(limit)}
