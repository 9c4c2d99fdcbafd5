"""A running job gives way: the graceful path, then its old place in the queue (JOB6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernel.states import transition
from scheduling.models import Attempt, Job
from scheduling.outcome import LOST, PREEMPTED
from scheduling.services.attempts import request_stop
from scheduling.services.interruptions import interruption_open
from scheduling.states import AttemptState, JobState

_REASON = ["reason", "reason_code", "reason_data"]


@dataclass(frozen=True, slots=True)
class Victim:
    """A running job (locked) and its live attempt, which nobody has asked to stop yet."""

    job: Job
    attempt: Attempt


def victims_of(jobs: Mapping[int, Job], wanted: Iterable[int]) -> dict[int, Victim]:
    """Those of the wanted jobs (locked) that still can give way. One statement."""
    running = [pk for pk in wanted if pk in jobs and jobs[pk].state in (JobState.STARTING, JobState.RUNNING)]
    attempts = Attempt.objects.filter(job__in=running, stop_reason="").exclude(state=AttemptState.ENDED)
    return {attempt.job_id: Victim(jobs[attempt.job_id], attempt) for attempt in attempts.order_by("pk")}


def give_way(victim: Victim, by: Job | None) -> None:
    """Stop the job by the graceful path for ``by`` or, if None, because its gang lost members. What no node has
    fetched yet ends at once."""
    job, attempt = victim.job, victim.attempt
    if by is not None:
        job.reason, job.reason_code = f"It gives way to job {by.pk}.", PREEMPTED
        job.reason_data = {"by": by.pk}
    else:
        job.reason, job.reason_code = "Some of its nodes fell silent; the rest of it is stopped.", LOST
        job.reason_data = {}
    transition(job, "preempt", actor=None, reason=job.reason, data=job.reason_data, fields=_REASON)
    interruption_open(job, attempt, by)
    request_stop(job, attempt, LOST if by is None else PREEMPTED, actor=None)
