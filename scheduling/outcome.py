"""What an ended attempt means for its job. Pure: exit records in, one event of the job's machine out.

A fault of the portal's side (node, hardware, preemption) never costs the job one of its retries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.messages import ExitRecord
from scheduling.states import Cause, JobState

GANG = "gang"
"""Stop reason of an attempt one of whose members ended first: the others are stopped with it."""
PREEMPTED = "preempted"
"""Stop reason of an attempt that gives way to another job."""
LOST = "lost"
"""Stop reason of a gang some of whose nodes have been silent for too long."""
GIVES_WAY = (PREEMPTED, LOST)
"""Stopped by the scheduler: the job is queued again at its old place, unless it ended by itself first."""
LAUNCH_TRIES = 3
"""Failed launches in a row after which a job is *not launchable*."""
BACKOFF_FIRST_S = 10
BACKOFF_CAP_S = 600

_BY_ORDER = {"user": Cause.USER, "project": Cause.USER, PREEMPTED: Cause.PREEMPTED, "timeout": Cause.TIMEOUT}
_BY_ORDER[LOST] = Cause.NODE_LOST
_BY_EXIT = {
    "finished": Cause.FINISHED,
    "timeout": Cause.TIMEOUT,
    "launch_failed": Cause.LAUNCH_FAILED,
    "node_shutdown": Cause.NODE_LOST,
    "lost": Cause.NODE_LOST,
    "stopped": Cause.NODE_LOST,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended: one cause, and the exit code of the member that decided it."""

    cause: Cause
    exit_code: int | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What the outcome depends on. Counts are of ended attempts since the job came into the queue, this one
    included."""

    state: JobState
    stop_reason: str
    max_retries: int
    failures: int
    launch_failures: int
    has_checkpoint_dir: bool
    has_newer_checkpoint: bool
    """A checkpoint newer than the request to stop was seen."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``event`` of the job's machine, with the reason in words and data; ``delay_s`` until it may start again."""

    event: str
    code: str
    text: str
    data: dict[str, Any]
    delay_s: int = 0


def is_failure(record: ExitRecord) -> bool:
    """Whether this member's end takes the rest of a gang with it: all but a clean end."""
    return not (record.cause == "finished" and record.exit_code == 0)


def ending(exits: Sequence[ExitRecord], stop_reason: str, *, has_lost_device: bool) -> Ending:
    """One cause for an attempt whose members have all ended. ``exits`` has at least one record.

    The first member that failed decides; members that were only stopped because of it do not.
    """
    failed = sorted((r for r in exits if is_failure(r)), key=lambda record: record.ended_at)
    if not failed:
        return Ending(Cause.FINISHED, 0)
    own = [record for record in failed if record.cause != "stopped"]
    deciding = own[0] if own else failed[0]
    if not own and stop_reason in _BY_ORDER:
        return Ending(_BY_ORDER[stop_reason], _exit_code(deciding), deciding.message)
    cause = _BY_EXIT[deciding.cause]
    if has_lost_device and cause in (Cause.FINISHED, Cause.NODE_LOST):
        cause = Cause.HARDWARE
    if stop_reason == "timeout" and cause in (Cause.HARDWARE, Cause.NODE_LOST):
        # Its time was up before the node was lost: it may not begin again.
        cause = Cause.TIMEOUT
    return Ending(cause, _exit_code(deciding), deciding.message)


def job_outcome(end: Ending, job: JobFacts) -> Outcome:
    """What becomes of the job (live, by its state) after this attempt."""
    if end.cause == Cause.FINISHED and end.exit_code == 0:
        return Outcome("succeed", "succeeded", "It ended with exit code 0.", {"exit_code": 0})
    if job.state == JobState.STOPPING and job.stop_reason not in GIVES_WAY:
        return _cancelled(job)
    if job.state == JobState.PAUSING:
        return _paused(end, job)
    if end.cause == Cause.TIMEOUT:
        return Outcome("time_out", "max_runtime", "It reached its max runtime and was stopped.", {})
    if end.cause == Cause.LAUNCH_FAILED:
        return _not_launched(end, job)
    if end.cause == Cause.FINISHED:
        return _failed(end, job)
    return _again(end)


def backoff_s(failures: int) -> int:
    """10 s after the first failure, doubled by each further one, at most ten minutes."""
    return min(BACKOFF_CAP_S, BACKOFF_FIRST_S << min(max(0, failures - 1), 20))


def _exit_code(record: ExitRecord) -> int | None:
    """The exit code; of a process ended by a signal 128 + signal, as shells say it."""
    return 128 + record.signal if record.signal is not None else record.exit_code


def _cancelled(job: JobFacts) -> Outcome:
    if job.stop_reason == "project":
        return Outcome("cancelled", "project_state", "It was stopped because its project is no longer active.", {})
    return Outcome("cancelled", "user", "It was stopped by a person.", {})


def _paused(end: Ending, job: JobFacts) -> Outcome:
    data = {"has_newer_checkpoint": job.has_newer_checkpoint, "exit_code": end.exit_code}
    if job.has_newer_checkpoint:
        return Outcome("paused", "paused", "It is paused; a checkpoint newer than the request was saved.", data)
    if job.has_checkpoint_dir:
        text = "It was stopped, but no checkpoint newer than the request was seen: work since the last one is lost."
        return Outcome("paused", "paused_without_checkpoint", text, data)
    text = "It was stopped; it declares no checkpoint folder, so it will start from the beginning."
    return Outcome("paused", "paused_without_checkpoint", text, data)


def _failed(end: Ending, job: JobFacts) -> Outcome:
    data = {"exit_code": end.exit_code, "failures": job.failures, "max_retries": job.max_retries}
    if job.failures <= job.max_retries:
        text = f"It failed with exit code {end.exit_code}; retry {job.failures} of {job.max_retries} follows."
        return Outcome("retry", "backoff", text, data, backoff_s(job.failures))
    retried = f" after {job.max_retries} retries" if job.max_retries else ""
    return Outcome("fail", "exit_code", f"It failed with exit code {end.exit_code}{retried}.", data)


def _not_launched(end: Ending, job: JobFacts) -> Outcome:
    why = end.message or "the node gave no reason"
    data = {"launch_failures": job.launch_failures, "message": end.message}
    if job.launch_failures >= LAUNCH_TRIES:
        text = f"Not launchable: {job.launch_failures} launches failed, the last because: {why}"
        return Outcome("fail", "not_launchable", text, data)
    text = f"Its launch failed ({why}); it is tried again after a pause."
    return Outcome("retry", "backoff", text, data, backoff_s(job.launch_failures))


def _again(end: Ending) -> Outcome:
    texts = {
        Cause.HARDWARE: "A device failed under it; it is queued again at its old place.",
        Cause.PREEMPTED: "It gave way to another job; it is queued again at its old place.",
    }
    text = texts.get(end.cause, "Its node was lost; it is queued again at its old place.")
    return Outcome("retry", str(end.cause), text, {"message": end.message})
