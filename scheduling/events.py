"""News from the rooms below. Delivered at least once: every handler may run again."""

from django.db.models import Q, QuerySet

from kernel.models import OutboxEvent
from kernel.outbox import subscribe
from kernel.unit import lock, unit_of_work
from projects.models import Project
from projects.states import ProjectState
from scheduling import wake
from scheduling.models import Attempt, Job
from scheduling.outcome import GIVES_WAY
from scheduling.services.acts import cancel_waiting, stop_live
from scheduling.services.silence import members_lose_sight
from scheduling.states import AttemptState, JobState

CONSUMER = "scheduling"
_STOPPABLE = (JobState.STARTING, JobState.RUNNING, JobState.PAUSING, JobState.STOPPING)
_TEXT = "Its project is no longer active."


def subscribe_all() -> None:
    """Register every handler; called once, when the application starts."""
    for topic in ("project.suspended", "project.closed"):
        subscribe(topic, CONSUMER)(project_stopped)
    for topic in (
        "project.resumed",
        "quota.changed",
        "capacity.changed",
        "node.devices_changed",
        "pool.access_changed",
    ):
        subscribe(topic, CONSUMER)(something_changed)
    subscribe("node.state_changed", CONSUMER)(node_changed)


def project_stopped(event: OutboxEvent) -> None:
    """A project was suspended or closed: what waits is cancelled, what runs stops by the graceful path (REG2)."""
    jobs_stop(int(event.subject_id))


def something_changed(_event: OutboxEvent) -> None:
    """Room, quota or a project came back: perhaps somebody can start now."""
    wake.wake_scheduler()


def node_changed(_event: OutboxEvent) -> None:
    """A node came or went: what a silent one holds is unknown now."""
    members_lose_sight()
    wake.wake_scheduler()


def jobs_stop(project_id: int) -> int:
    """Cancel or stop all jobs of a project that is not active any more and return how many.

    A closed project's paused jobs are cancelled too; a suspended one keeps them. News may come late: a project that
    is active again keeps all. Locks the project and each job.
    """
    with unit_of_work():
        rows = lock({Project: [project_id], Job: list(_unfinished(project_id).values_list("pk", flat=True))})
        ends = _ends(ProjectState(rows[Project][project_id].state))
        jobs = [job for job in rows[Job].values() if job.state in ends]
        for job in jobs:
            if job.state in _STOPPABLE:
                stop_live(job, "project", _TEXT, actor=None)
            else:
                cancel_waiting(job, "project_state", _TEXT, actor=None)
    return len(jobs)


def _ends(state: ProjectState) -> frozenset[JobState]:
    """In which states a job does not go on when its project is in this one."""
    if state == ProjectState.ACTIVE:
        return frozenset()
    kept = {JobState.PAUSED} if state == ProjectState.SUSPENDED else set()
    return frozenset({JobState.QUEUED, JobState.PAUSED, *_STOPPABLE} - kept)


def _unfinished(project_id: int) -> QuerySet[Job]:
    """What waits or runs. Of what is being stopped only that which would come back: it gives way to another job."""
    gives_way = Attempt.objects.filter(stop_reason__in=GIVES_WAY).exclude(state=AttemptState.ENDED)
    is_stopping = Q(state=JobState.STOPPING)
    jobs = Job.objects.filter(project=project_id, state__in=[JobState.QUEUED, JobState.PAUSED, *_STOPPABLE])
    return jobs.filter(~is_stopping | Q(pk__in=gives_way.values("job_id")))
