"""News from the rooms below. Delivered at least once: every handler may run again."""

from django.db.models import QuerySet

from kernel.models import OutboxEvent
from kernel.outbox import subscribe
from kernel.unit import lock, unit_of_work
from scheduling import wake
from scheduling.models import Job
from scheduling.services.acts import cancel_waiting, stop_live
from scheduling.services.silence import members_lose_sight
from scheduling.states import JobState

CONSUMER = "scheduling"
_STOPPABLE = (JobState.STARTING, JobState.RUNNING, JobState.PAUSING)
_TEXT = "Its project is no longer active."


def subscribe_all() -> None:
    """Register every handler; called once, when the application starts."""
    for topic in ("project.suspended", "project.closed"):
        subscribe(topic, CONSUMER)(project_stopped)
    for topic in ("project.resumed", "quota.changed", "capacity.changed", "node.devices_changed"):
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
    """Cancel or stop all jobs of a project that is not active any more and return how many. Locks each job."""
    with unit_of_work():
        jobs = lock({Job: list(_unfinished(project_id).values_list("pk", flat=True))})[Job]
        for job in jobs.values():
            if job.state == JobState.QUEUED:
                cancel_waiting(job, "project_state", _TEXT, actor=None)
            elif job.state in _STOPPABLE:
                stop_live(job, "project", _TEXT, actor=None)
    return len(jobs)


def _unfinished(project_id: int) -> QuerySet[Job]:
    return Job.objects.filter(project=project_id, state__in=[JobState.QUEUED, *_STOPPABLE])
