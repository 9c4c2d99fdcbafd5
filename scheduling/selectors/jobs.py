"""Jobs that a person may see, and one of them whole: attempts, placement, history."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel.errors import NotFound
from kernel.models import StateChange
from projects import policies as projects_policies
from scheduling.engine.model import MILLI
from scheduling.models import Attempt, AttemptMember, Interruption, Job
from scheduling.outcome import GIVES_WAY
from scheduling.states import LIVE, AttemptState, JobState

Placement = dict[str, dict[str, int]]
"""Node name → device UUID → milli-GPU."""


@dataclass(frozen=True, slots=True)
class InterruptionView:
    """What an interruption cost. ``by``: the job it was for; its name only where the reader may see that job."""

    by: int | None
    by_name: str
    at: datetime
    checkpoint_at: datetime | None
    is_booked: bool
    lost_gpu_seconds: float

    @property
    def lost_gpu_hours(self) -> float:
        return self.lost_gpu_seconds / 3600


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt with where it was placed. ``node`` names its nodes in rank order."""

    number: int
    state: str
    node: str
    placement: Placement
    silent: tuple[str, ...]
    """Those of its nodes of which nothing is heard."""
    launcher: str
    gpu_model: str
    assigned_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    exit_code: int | None
    cause: str
    message: str
    is_simulated: bool
    newest_checkpoint_at: datetime | None
    max_runtime_s: int | None
    is_preemptible: bool
    gives_way: bool
    """It is being stopped by the scheduler, for another job or because its gang lost members."""
    interruption: InterruptionView | None


@dataclass(frozen=True, slots=True)
class JobDetail:
    """A job with its attempts, oldest first, and what could be done with it in this state."""

    job: Job
    attempts: list[AttemptView]
    possible: list[str]
    """Of cancel, pause, resume, requeue: what the state allows."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One step of the job or of one of its attempts."""

    at: datetime
    subject: str
    """``job`` or ``attempt N``."""
    event: str
    from_state: str
    to_state: str
    reason: str
    actor_name: str

    @property
    def about(self) -> str:
        """The subject in words."""
        _kind, _blank, number = self.subject.partition(" ")
        return _("Attempt %(number)s") % {"number": number} if number else _("Job")


def visible_to(person: Person) -> QuerySet[Job]:
    """Jobs of the projects that the person may know of."""
    return Job.objects.filter(project__in=projects_policies.visible_to(person))


def listed(person: Person) -> QuerySet[Job]:
    """``visible_to`` with what a list shows, newest first."""
    rows = visible_to(person).select_related("project", "owner").prefetch_related("gpu_models")
    return rows.order_by("-submitted_at", "-pk")


def waiting(person: Person) -> QuerySet[Job]:
    """The queue, in its order, each job with its reason."""
    return listed(person).filter(state=JobState.QUEUED).order_by("queued_at", "pk")


def running(person: Person) -> QuerySet[Job]:
    """Jobs with a live attempt."""
    return listed(person).filter(state__in=LIVE)


def job_for(person: Person, job_id: int) -> Job:
    """One visible job. Raises ``NotFound``, also for a stranger."""
    job = listed(person).filter(pk=job_id).first()
    if job is None:
        raise NotFound
    return job


def job_detail(person: Person, job_id: int) -> JobDetail:
    """One visible job with its attempts. Raises ``NotFound``."""
    job = job_for(person, job_id)
    members = AttemptMember.objects.select_related("node").prefetch_related("allocations__device").order_by("rank")
    by = visible_to(person).filter(pk=OuterRef("interruption__by"))
    attempts = job.attempts.select_related("gpu_model", "interruption").order_by("number")
    attempts = attempts.annotate(by_name=Subquery(by.values("name")[:1]))
    by_attempt: dict[int, list[AttemptMember]] = {}
    for member in members.filter(attempt__job=job):
        by_attempt.setdefault(member.attempt_id, []).append(member)
    views = [_view(attempt, by_attempt.get(attempt.pk, []), attempt.by_name or "") for attempt in attempts]
    return JobDetail(job, views, possible(job, gives_way=any(view.gives_way for view in views)))


def possible(job: Job, *, gives_way: bool = False) -> list[str]:
    """What a person could do with the job in its state. What is being stopped can be stopped for good only while it
    gives way to another job."""
    events = set(job.machine.events(job.state))
    if job.state == JobState.STOPPING and not gives_way:
        events.discard("stop")
    can = {"pause", "resume", "requeue"} & events
    return sorted(can | ({"cancel"} if {"cancel", "stop"} & events else set()))


def job_events(job: Job) -> list[JobEvent]:
    """Every step of the job and its attempts, oldest first. The job is one that the reader may see."""
    attempts = {str(pk): number for pk, number in Attempt.objects.filter(job=job).values_list("pk", "number")}
    about_job = Q(subject_type=Job._meta.label_lower, subject_id=str(job.pk))
    about_attempt = Q(subject_type=Attempt._meta.label_lower, subject_id__in=list(attempts))
    return [
        JobEvent(
            at=change.at,
            subject="job" if change.machine == "job" else f"attempt {attempts[change.subject_id]}",
            event=change.event,
            from_state=change.from_state,
            to_state=change.to_state,
            reason=change.reason,
            actor_name=change.actor_name,
        )
        for change in StateChange.objects.filter(about_job | about_attempt).order_by("pk")
    ]


def _interruption(attempt: Attempt, by_name: str) -> InterruptionView | None:
    row = getattr(attempt, "interruption", None)
    if not isinstance(row, Interruption):
        return None
    return InterruptionView(
        by=row.by_id,
        by_name=by_name,
        at=row.requested_at,
        checkpoint_at=row.checkpoint_at,
        is_booked=row.ended_at is not None,
        lost_gpu_seconds=(row.lost_milli_gpu_seconds or 0) / MILLI,
    )


def _view(attempt: Attempt, members: list[AttemptMember], by_name: str) -> AttemptView:
    placement = {
        member.node.name: {
            part.device.uuid: part.milli
            for part in sorted(member.allocations.all(), key=lambda part: part.device.index)
        }
        for member in members
    }
    checkpoints = [m.newest_checkpoint_at for m in members if m.newest_checkpoint_at is not None]
    return AttemptView(
        number=attempt.number,
        state=AttemptState(attempt.state).value,
        node=", ".join(placement),
        placement=placement,
        silent=tuple(member.node.name for member in members if member.state == AttemptState.UNKNOWN),
        launcher=attempt.launcher,
        gpu_model=attempt.gpu_model.name,
        assigned_at=attempt.assigned_at,
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        exit_code=attempt.exit_code,
        cause=attempt.cause,
        message=attempt.message,
        is_simulated=any(member.node.is_simulated for member in members),
        newest_checkpoint_at=max(checkpoints, default=None),
        max_runtime_s=attempt.max_runtime_s,
        is_preemptible=attempt.is_preemptible,
        gives_way=attempt.state != AttemptState.ENDED and attempt.stop_reason in GIVES_WAY,
        interruption=_interruption(attempt, by_name),
    )
