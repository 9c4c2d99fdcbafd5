"""How far a job has come: when it began, whether it is over, whether its log is whole."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from kernel import clock
from scheduling.models import Attempt, AttemptMember, Job, JobLog
from scheduling.states import OVER, AttemptState, JobState

LOG_SETTLES = timedelta(minutes=10)
"""After its end a node has so long to hand in the rest of a log; then what there is counts as all."""


@dataclass(frozen=True, slots=True)
class LogEnd:
    """How long the log is, and whether nothing more will come."""

    size: int
    is_complete: bool


def with_start(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Rows with ``started_at`` of their newest attempt, and ``allowed_s``: how long it may run."""
    newest = Attempt.objects.filter(job=OuterRef("pk")).order_by("-number")
    return jobs.annotate(
        started_at=Subquery(newest.values("started_at")[:1]), allowed_s=Subquery(newest.values("max_runtime_s")[:1])
    )


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Among the waiting jobs of its project, in the engine's order: priority, then who queued first; from 1."""

    place: int
    waiting: int


def queue_place(job: Job) -> QueuePlace | None:
    """None for a job that does not wait. The order between projects follows shares and has no single number."""
    if job.state != JobState.QUEUED:
        return None
    waiting = Job.objects.filter(project=job.project_id, state=JobState.QUEUED)
    earlier = Q(queued_at__lt=job.queued_at) | Q(queued_at=job.queued_at, pk__lt=job.pk)
    before = Q(priority__gt=job.priority) | Q(priority=job.priority) & earlier
    return QueuePlace(waiting.filter(before).count() + 1, waiting.count())


def log_end(job_id: int) -> LogEnd:
    """Complete: the job is over, every member has ended and all that its node wrote is stored."""
    missing = AttemptMember.objects.filter(attempt__job=OuterRef("pk")).filter(
        ~Q(state=AttemptState.ENDED) | Q(log_stored_bytes__lt=F("log_bytes"))
    )
    size = JobLog.objects.filter(job=OuterRef("pk")).values("size")[:1]
    row = (
        Job.objects.filter(pk=job_id)
        .annotate(is_missing=Exists(missing), size=Subquery(size))
        .values("state", "ended_at", "is_missing", "size")
        .get()
    )
    is_old = row["ended_at"] is not None and row["ended_at"] < clock.now() - LOG_SETTLES
    is_complete = row["state"] in OVER and (is_old or not row["is_missing"])
    return LogEnd(row["size"] or 0, is_complete)
