"""What projects use and have used, from allocation intervals: what is held counts, whether or not it computes."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import connection
from django.db.models import Q, QuerySet, Sum

from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import day_bounds
from quotas.models import Resource
from quotas.usage import QuotaKey, Usage
from scheduling.engine import MILLI
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Attempt

MILLI_SECONDS_PER_GPU_HOUR = MILLI * 3600


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a project uses of one GPU model at this moment, in milli-GPU."""

    milli_gpus: int


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
    live = _live_at(None, project_ids)
    sums = live.values_list("job__project_id", "gpu_model_id").annotate(total=Sum("job__milli_gpus"))
    return {(project, model): ModelUse(int(total or 0)) for project, model, total in sums.order_by()}


def used_at(at: datetime, project_ids: Iterable[int]) -> Usage | None:
    """Answers what quotas asks: GPUs, cores and bytes of memory that jobs held at an instant. None for the future, of
    which nobody can tell."""
    if at > clock.now():
        return None
    used: dict[QuotaKey, float] = defaultdict(float)
    rows = _live_at(at, project_ids).values_list(
        "job__project_id", "gpu_model_id", "job__milli_gpus", "job__nodes_exact", "job__cpus", "job__memory_bytes"
    )
    for project, model, milli, nodes, cpus, memory_bytes in rows:
        used[(project, Resource.GPU, model)] += milli / MILLI
        used[(project, Resource.CPU, None)] += cpus * (nodes or 1)
        used[(project, Resource.MEMORY, None)] += memory_bytes * (nodes or 1)
    return dict(used)


def _live_at(at: datetime | None, project_ids: Iterable[int] | None) -> QuerySet[Attempt]:
    """Attempts that held devices at an instant, or hold them now: from the decision until they have ended."""
    live = Attempt.objects.filter(ended_at__isnull=True)
    if at is not None:
        live = Attempt.objects.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=at), assigned_at__lte=at)
    return live if project_ids is None else live.filter(job__project__in=list(project_ids))


def gpu_hours_by_day(first: date, last: date, project_ids: Collection[int] | None = None) -> list[DayUsage]:
    """GPU time by project, day and model from ``first`` to ``last`` (both included), live ones up to now."""
    names = dict(GpuModel.objects.values_list("pk", "name"))
    spent = _spent_by_day(first, last, project_ids, by_model=True)
    rows = (
        DayUsage(project, first + timedelta(days=day), names[model or 0], simulated, milli)
        for (project, model, simulated, day), milli in spent.items()
    )
    return sorted(rows, key=lambda row: (row.project, row.day, row.gpu_model, row.is_simulated))


def milli_by_day(first: date, last: date, project_ids: Collection[int]) -> dict[int, list[int]]:
    """The same for many projects at once, by project: one sum of milli-GPU-seconds for every day."""
    spent: dict[int, list[int]] = {project: [0] * ((last - first).days + 1) for project in project_ids}
    for (project, _model, _simulated, day), milli in _spent_by_day(first, last, project_ids, by_model=False).items():
        spent[project][day] += milli
    return spent


_Key = tuple[int, int | None, bool, int]
"""Project, GPU model, whether simulated, and days since the first."""


def _spent_by_day(first: date, last: date, project_ids: Collection[int] | None, *, by_model: bool) -> dict[_Key, int]:
    """Milli-GPU-seconds, whole as they are charged. One statement: what is freed meanwhile counts once.

    What was freed has been charged by day; what is held has not. Devices that were taken together are one row.
    """
    start, now = day_bounds(first).start, clock.now()
    end = min(day_bounds(last).end or now, now)
    ids = None if project_ids is None else list(project_ids)
    spent: dict[_Key, int] = defaultdict(int)
    with connection.cursor() as cursor:
        cursor.execute(
            _SPENT, {"first": first, "last": last, "start": start, "end": end, "ids": ids, "by_model": by_model}
        )
        for project, model, simulated, day, milli, at, until in cursor.fetchall():
            if at is None:
                spent[(project, model, simulated, day)] += milli
                continue
            for held_on, piece_start, piece_end in by_day(max(at, start), min(until or now, end)):
                key = (project, model, simulated, (held_on - first).days)
                spent[key] += milli_gpu_seconds(milli, at, piece_start, piece_end)
    return spent


_SPENT = """
    SELECT charge.project_id, CASE WHEN %(by_model)s THEN charge.gpu_model_id END,
        %(by_model)s AND charge.is_simulated, charge.day - %(first)s::date,
        sum(charge.milli_gpu_seconds)::bigint, NULL::timestamptz, NULL::timestamptz
    FROM scheduling_charge AS charge
    WHERE charge.day BETWEEN %(first)s AND %(last)s AND (%(ids)s::bigint[] IS NULL OR charge.project_id = ANY(%(ids)s))
    GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT job.project_id, CASE WHEN %(by_model)s THEN device.gpu_model_id END,
        %(by_model)s AND device.is_simulated, NULL,
        sum(allocation.milli)::bigint, allocation.allocated_at, member.ended_at
    FROM scheduling_deviceallocation AS allocation
    JOIN inventory_device AS device ON device.id = allocation.device_id
    JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
    JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
    JOIN scheduling_job AS job ON job.id = attempt.job_id
    WHERE allocation.released_at IS NULL AND allocation.allocated_at < %(end)s
        AND (member.ended_at IS NULL OR member.ended_at > %(start)s)
        AND (%(ids)s::bigint[] IS NULL OR job.project_id = ANY(%(ids)s))
    GROUP BY 1, 2, 3, 6, 7
"""
