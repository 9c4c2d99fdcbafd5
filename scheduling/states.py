"""States of jobs, attempts and their members. *Unknown* is never read as ended, failed or idle."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from kernel.states import Machine


class JobState(models.TextChoices):
    DRAFT = "draft", _("draft")
    QUEUED = "queued", _("queued")
    STARTING = "starting", _("starting")
    RUNNING = "running", _("running")
    PAUSING = "pausing", _("pausing")
    PAUSED = "paused", _("paused")
    STOPPING = "stopping", _("stopping")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    TIMED_OUT = "timed_out", _("timed out")


J = JobState
LIVE = (J.STARTING, J.RUNNING, J.PAUSING, J.STOPPING)
"""States of a job that has a live attempt."""
OVER = frozenset({J.SUCCEEDED, J.FAILED, J.CANCELLED, J.TIMED_OUT})
"""States in which a job stays unless a person acts."""
JOB = Machine(
    "job",
    JobState,
    {
        (J.QUEUED, "assign"): J.STARTING,
        (J.STARTING, "run"): J.RUNNING,
        (J.QUEUED, "cancel"): J.CANCELLED,
        (J.STARTING, "stop"): J.STOPPING,
        (J.RUNNING, "stop"): J.STOPPING,
        (J.PAUSING, "stop"): J.STOPPING,
        (J.PAUSED, "cancel"): J.CANCELLED,
        (J.QUEUED, "pause"): J.PAUSED,
        # A person's stop takes the place of giving way: the job is cancelled, not queued again.
        (J.STOPPING, "stop"): J.STOPPING,
        (J.STARTING, "preempt"): J.STOPPING,
        (J.RUNNING, "preempt"): J.STOPPING,
        (J.STARTING, "pause"): J.PAUSING,
        (J.RUNNING, "pause"): J.PAUSING,
        (J.PAUSING, "paused"): J.PAUSED,
        (J.PAUSED, "resume"): J.QUEUED,
        (J.FAILED, "requeue"): J.QUEUED,
        (J.CANCELLED, "requeue"): J.QUEUED,
        (J.TIMED_OUT, "requeue"): J.QUEUED,
        (J.QUEUED, "fail"): J.FAILED,
        (J.STOPPING, "cancelled"): J.CANCELLED,
        **{(state, "succeed"): J.SUCCEEDED for state in LIVE},
        **{(state, "fail"): J.FAILED for state in LIVE},
        **{(state, "time_out"): J.TIMED_OUT for state in LIVE},
        **{(state, "retry"): J.QUEUED for state in LIVE},
    },
)


class AttemptState(models.TextChoices):
    ASSIGNED = "assigned", _("assigned")
    STARTING = "starting", _("starting")
    RUNNING = "running", _("running")
    STOPPING = "stopping", _("stopping")
    ENDED = "ended", _("ended")
    UNKNOWN = "unknown", _("unknown")


A = AttemptState
_ATTEMPT: dict[tuple[str, str], str] = {
    (A.ASSIGNED, "start"): A.STARTING,
    (A.ASSIGNED, "run"): A.RUNNING,
    (A.STARTING, "run"): A.RUNNING,
    **{(state, "stop"): A.STOPPING for state in (A.ASSIGNED, A.STARTING, A.RUNNING)},
    **{(state, "lose_sight"): A.UNKNOWN for state in (A.ASSIGNED, A.STARTING, A.RUNNING, A.STOPPING)},
    (A.UNKNOWN, "start"): A.STARTING,
    (A.UNKNOWN, "run"): A.RUNNING,
    (A.UNKNOWN, "stop"): A.STOPPING,
    **{(s, "end"): A.ENDED for s in (A.ASSIGNED, A.STARTING, A.RUNNING, A.STOPPING, A.UNKNOWN)},
}
ATTEMPT = Machine("attempt", AttemptState, _ATTEMPT)
MEMBER = Machine("attempt_member", AttemptState, _ATTEMPT)


class Cause(models.TextChoices):
    """Why an attempt ended."""

    FINISHED = "finished", _("finished")
    USER = "user", _("stopped by a person")
    TIMEOUT = "timeout", _("max runtime reached")
    PREEMPTED = "preempted", _("preempted")
    NODE_LOST = "node_lost", _("node lost")
    HARDWARE = "hardware", _("hardware fault")
    LAUNCH_FAILED = "launch_failed", _("could not be launched")
