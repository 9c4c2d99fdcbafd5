"""What projects use and have used, from allocation intervals: what is held counts, whether or not it computes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from kernel import clock
from kernel.calendar import day_bounds
from scheduling.engine import MILLI
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Attempt, DeviceAllocation
from scheduling.states import AttemptState

MILLI_SECONDS_PER_GPU_HOUR = MILLI * 3600


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a project uses of one GPU model at this moment, in milli-GPU, and how much of it is protected."""

    milli_gpus: int
    milli_protected: int


@dataclass(frozen=True, slots=True)
class DayUsage:
    """GPU time of one project, day of the organisation and GPU model. ``is_simulated``: on simulated devices."""

    project: int
    day: date
    gpu_model: str
    is_simulated: bool
    milli_gpu_seconds: int

    @property
    def gpu_hours(self) -> float:
        return self.milli_gpu_seconds / MILLI_SECONDS_PER_GPU_HOUR


def used_now(project_ids: Iterable[int] | None = None) -> dict[tuple[int, int], ModelUse]:
    """By project and GPU model: what jobs with a live attempt use. Releasing is not free."""
    live = Attempt.objects.exclude(state=AttemptState.ENDED)
    if project_ids is not None:
        live = live.filter(job__project__in=list(project_ids))
    sums = live.values_list("job__project_id", "gpu_model_id").annotate(
        total=Sum("job__milli_gpus"), protected=Sum("job__milli_gpus", filter=Q(job__is_preemptible=False), default=0)
    )
    return {(project, model): ModelUse(int(total or 0), int(kept)) for project, model, total, kept in sums.order_by()}


def gpu_hours_by_day(first: date, last: date, project_ids: Iterable[int] | None = None) -> list[DayUsage]:
    """GPU time by project, day and model from ``first`` to ``last`` (both included), live ones up to now."""
    start, now = day_bounds(first).start, clock.now()
    end = min(day_bounds(last).end or now, now)
    totals: dict[tuple[int, date, str, bool], int] = defaultdict(int)
    for held in _held_between(start, end, project_ids):
        key = (held.member.attempt.job.project_id, held.device.gpu_model.name, held.device.is_simulated)
        until = min(_end(held, now), end)
        for day, piece_start, piece_end in by_day(max(held.allocated_at, start), until):
            spent = milli_gpu_seconds(held.milli, held.allocated_at, piece_start, piece_end)
            totals[(key[0], day, key[1], key[2])] += spent
    return [DayUsage(*key, milli_gpu_seconds=spent) for key, spent in sorted(totals.items())]


def gpu_hours_by_project(first: date, last: date, project_ids: Iterable[int] | None = None) -> dict[int, float]:
    """GPU-hours by project over these days."""
    hours: dict[int, float] = defaultdict(float)
    for usage in gpu_hours_by_day(first, last, project_ids):
        hours[usage.project] += usage.gpu_hours
    return dict(hours)


def _held_between(start: datetime, end: datetime, project_ids: Iterable[int] | None) -> QuerySet[DeviceAllocation]:
    ended_at = Coalesce("member__ended_at", "released_at")
    rows = DeviceAllocation.objects.alias(until=ended_at).filter(allocated_at__lt=end)
    rows = rows.filter(Q(until__isnull=True) | Q(until__gt=start))
    if project_ids is not None:
        rows = rows.filter(member__attempt__job__project__in=list(project_ids))
    return rows.select_related("device__gpu_model", "member__attempt__job").order_by("pk")


def _end(held: DeviceAllocation, now: datetime) -> datetime:
    """When the project's time on the device was over: the member's end, even where the device came free later."""
    return held.member.ended_at or held.released_at or now
