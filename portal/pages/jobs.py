"""Rows of jobs on composed pages: what the job's room knows, with what its GPUs do now."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from kernel import clock
from monitoring.selectors.latest import NOTHING_HELD, Utilisation, jobs_now
from scheduling.models import Job
from scheduling.selectors.progress import with_start
from scheduling.states import LIVE, OVER, JobState

RECENT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class JobRow:
    job: Job
    utilisation: Utilisation
    ends_at: datetime | None
    """When its max runtime ends; None: nobody knows, or it does not run."""


def job_rows(jobs: QuerySet[Job], most: int) -> list[JobRow]:
    """Live ones first, then waiting, then what ended lately. ``jobs`` comes from ``listed``. Three statements."""
    recent = ~Q(state__in=OVER) | Q(ended_at__gte=clock.now() - RECENT)
    rank = Case(
        When(state__in=LIVE, then=Value(0)),
        When(state__in=(JobState.QUEUED, JobState.PAUSED), then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return rows_of(
        list(with_start(jobs.filter(recent)).annotate(rank=rank).order_by("rank", "-submitted_at", "-pk")[:most])
    )


def rows_of(jobs: list[Job]) -> list[JobRow]:
    """These jobs with what their GPUs do now. One statement."""
    now = jobs_now([job.pk for job in jobs])
    return [JobRow(job, now.get(job.pk, NOTHING_HELD), _ends_at(job)) for job in jobs]


def counted(rows: Iterable[JobRow]) -> dict[str, int]:
    """How many are in which state, for the line beside the head."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.job.state] = counts.get(row.job.state, 0) + 1
    return counts


def _ends_at(job: Job) -> datetime | None:
    started, allowed = getattr(job, "started_at", None), getattr(job, "allowed_s", None)
    if job.state != JobState.RUNNING or started is None or allowed is None:
        return None
    at: datetime = started + timedelta(seconds=allowed)
    return at
