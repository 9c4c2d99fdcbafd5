"""Temporary raises end by their dates, whatever anybody does; here the leads are told: a week and a day before, and
when it is over. Days are the organisation's.

Each morning's run tells the nearest notice that is still true, once: a night that was missed is made up for, and
nobody gets last week's news.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import structlog
from django.db.models import Max
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from accounts.models import Notification
from accounts.notifications import Told, Topic, Urgency, notify_many
from kernel import clock
from kernel.calendar import local_day, organisation_zone
from kernel.intervals import Interval
from kernel.unit import unit_of_work
from projects.approvals import leads_of
from quotas.models import ClaimKind, QuotaRequest
from quotas.protected import Running, protected_now, that_stay
from quotas.raises import Part
from quotas.requests.asking import Holdings, holdings
from quotas.selectors import live_claims

GROUP = "quotas"
TOPICS = (
    Topic(
        name="quotas.ends_soon",
        title=_("%(model)s of %(project)s: the raise ends at %(ends_at)s"),
        text=_(
            "Guaranteed %(before)s → %(after)s, limit %(before_limit_word)s → %(after_limit_word)s. "
            "Running jobs that stay protected: %(stay_word)s; that count as preemptible from then on: %(rest_word)s. "
            "Nothing new starts on what ends. Ask again in time if it is still needed."
        ),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="quotas.ended",
        title=_("%(model)s of %(project)s: the raise has ended"),
        text=_(
            "Since %(ends_at)s: guaranteed %(before)s → %(after)s, limit %(before_limit_word)s → %(after_limit_word)s. "
            "Running jobs that stay protected: %(stay_word)s; that count as preemptible: %(rest_word)s. "
            "Nothing new starts on what has ended."
        ),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
)
MORNING = time(6)
STAGES = (1, 7)
"""Days before the end, the nearest first."""
LOOKED_BACK = timedelta(days=14)
"""How late an end is still told after nights that were missed."""
_INSTANT = timedelta(microseconds=1)
_NO_LIMIT, _NOT_KNOWN = gettext_noop("no limit"), gettext_noop("not known")
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class End:
    """One raise that ends, or has ended: what its project holds just before and from then on."""

    request: QuotaRequest
    at: datetime
    stage: str
    before: Part
    after: Part

    @property
    def once(self) -> str:
        return f"request:{self.request.pk}:ends:{self.at.astimezone(UTC).isoformat()}:{self.stage}"


def tell_ends() -> int:
    """Tell what is due. Nothing before six in the morning of the organisation's day; how many notices were written.

    Doing it again tells nobody twice. A constant number of statements; only if something fails is each told alone, so
    that the one that fails does not keep the others.
    """
    now = clock.now()
    if now < datetime.combine(local_day(now), MORNING, organisation_zone()):
        return 0
    due = _untold(_due(now))
    if not due:
        return 0
    projects = {end.request.project_id for end in due}
    leads, running = leads_of(projects), protected_now(projects)
    try:
        with unit_of_work():
            return notify_many([_told(end, leads, running) for end in due])
    except Exception:  # noqa: BLE001 - the edge of the run: told one by one then
        _log.exception("tell_ends_failed")
        return sum(_alone(end, leads, running) for end in due)


def stage_of(starts_at: datetime, ends_at: datetime, now: datetime) -> str | None:
    """Which notice is the nearest that is true now: ``over``, ``1`` or ``7``; None before the first of them.

    A raise that is shorter than a notice's days is not told that early: it has only just been granted.
    """
    if ends_at <= now:
        return "over"
    last = local_day(ends_at)
    left = (last - local_day(now)).days
    length = (last - local_day(starts_at)).days
    return next((str(days) for days in STAGES if left <= days <= length), None)


def _due(now: datetime) -> list[End]:
    ends_at = _last_ends(now - LOOKED_BACK, now + timedelta(days=max(STAGES) + 2))
    rows = QuotaRequest.objects.filter(pk__in=list(ends_at), granted_from__lte=now)
    found = list(rows.select_related("project", "gpu_model").order_by("pk"))
    if not found:
        return []
    keys = {(row.project_id, row.gpu_model_id or 0) for row in found}
    held = holdings(keys, now - LOOKED_BACK - timedelta(days=1))
    ends = (_end_alone(row, ends_at[row.pk], held[row.project_id, row.gpu_model_id or 0], now) for row in found)
    return [end for end in ends if end is not None]


def _last_ends(first: datetime, last: datetime) -> dict[int, datetime]:
    """By request, when the last of what it raised ends, if that is between two instants; it may have been shortened."""
    raised = live_claims().filter(kind=ClaimKind.TEMPORARY, request__isnull=False)
    ends = raised.values_list("request").annotate(end=Max("during__endswith")).filter(end__gt=first, end__lt=last)
    return {request: end for request, end in ends if request is not None}


def _end_alone(request: QuotaRequest, at: datetime, held: Holdings, now: datetime) -> End | None:
    """One that cannot be worked out keeps no other."""
    try:
        return _end(request, at, held, now)
    except Exception:  # noqa: BLE001 - the edge of one raise
        _log.exception("tell_end_failed", request=request.pk)
        return None


def _end(request: QuotaRequest, at: datetime, held: Holdings, now: datetime) -> End | None:
    """None where no notice is due, and where nothing changes: it was ended before, or goes on by another grant."""
    stage = None if request.granted_from is None else stage_of(request.granted_from, at, now)
    if stage is None:
        return None
    before, after = _at(held, at - _INSTANT), _at(held, at)
    is_same = (before.guaranteed, before.shown_limit) == (after.guaranteed, after.shown_limit)
    return None if is_same else End(request, at, stage, before, after)


def _at(held: Holdings, at: datetime) -> Part:
    return held.through(Interval(at, at + _INSTANT))[0]


def _untold(ends: Sequence[End]) -> list[End]:
    known = Notification.objects.filter(once__in=[end.once for end in ends]).values_list("once", flat=True)
    told = set(known.distinct())
    return [end for end in ends if end.once not in told]


def _told(end: End, leads: Mapping[int, Iterable[int]], running: Running | None) -> Told:
    request = end.request
    if request.gpu_model is None:
        raise LookupError(f"request {request.pk} has no GPU model")
    jobs = None if running is None else running.get((request.project_id, request.gpu_model.pk), ())
    stay = None if jobs is None else that_stay(jobs, end.after.guaranteed)
    words = {
        "project": request.project.name,
        "model": request.gpu_model.title,
        "ends_at": end.at.isoformat(),
        "before": end.before.guaranteed,
        "after": end.after.guaranteed,
        "before_limit_word": _limit(end.before),
        "after_limit_word": _limit(end.after),
        "stay_word": _NOT_KNOWN if stay is None else str(stay),
        "rest_word": _NOT_KNOWN if stay is None or jobs is None else str(len(jobs) - stay),
    }
    topic = "quotas.ended" if end.stage == "over" else "quotas.ends_soon"
    url = reverse("quota-request", args=[request.pk])
    return Told(topic, leads.get(request.project_id, ()), request, words, url, end.once)


def _limit(part: Part) -> str:
    return _NO_LIMIT if part.shown_limit is None else str(part.shown_limit)


def _alone(end: End, leads: Mapping[int, Iterable[int]], running: Running | None) -> int:
    try:
        with unit_of_work():
            return notify_many([_told(end, leads, running)])
    except Exception:  # noqa: BLE001 - the edge of one raise
        _log.exception("tell_end_failed", request=end.request.pk)
        return 0
