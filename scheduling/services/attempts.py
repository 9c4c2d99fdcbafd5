"""An attempt follows its members, and its job follows the attempt. The job is locked by the caller."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agent.messages import ExitRecord
from inventory.models import DeviceState
from kernel import clock, outbox
from kernel.states import transition
from kernel.subject import Actor
from scheduling import wake
from scheduling.launchers import push_soon
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Job
from scheduling.outcome import GANG, GIVES_WAY, Ending, JobFacts, Outcome, ending, is_failure, job_outcome
from scheduling.services.interruptions import interruption_book
from scheduling.services.release import exit_of, is_ended, is_unfetched, member_end
from scheduling.states import AttemptState, Cause, JobState

_EVENTS = {
    AttemptState.STARTING: "start",
    AttemptState.RUNNING: "run",
    AttemptState.STOPPING: "stop",
    AttemptState.UNKNOWN: "lose_sight",
}


def live_attempt(job: Job) -> Attempt | None:
    """The one attempt of the job that has not ended."""
    return Attempt.objects.filter(job=job).exclude(state=AttemptState.ENDED).first()


def request_stop(job: Job, attempt: Attempt, reason: str, *, actor: Actor) -> None:
    """Ask all members to stop; the first request stays, unless it was to give way and a person or the end of the
    project wants the job's end. What no node has fetched yet ends at once."""
    members = list(attempt.members.order_by("rank"))
    if not attempt.stop_reason:
        _set_stop(attempt, reason, members)
    elif attempt.stop_reason in GIVES_WAY and reason not in GIVES_WAY:
        # The nodes stop it already, and the grace time goes on as it began.
        attempt.stop_reason = reason
        attempt.save(update_fields=["stop_reason"])
    settle(job, attempt, members, actor=actor)


def settle(job: Job, attempt: Attempt, members: Sequence[AttemptMember], *, actor: Actor) -> None:
    """Bring attempt and job in line with the members. Settling twice changes nothing."""
    if attempt.state == AttemptState.ENDED:
        return
    if not attempt.stop_reason and any(is_ended(m) and is_failure(exit_of(m)) for m in members):
        _set_stop(attempt, GANG, members)
    if attempt.stop_reason:
        _end_unfetched(members, actor)
    if all(is_ended(member) for member in members):
        _end(job, attempt, members, actor)
        return
    _step(attempt, _target(attempt, members), actor)
    if attempt.state == AttemptState.RUNNING and job.state == JobState.STARTING:
        _started(job, attempt, members, actor)


def attempt_end(attempt: Attempt, end: Ending, *, actor: Actor) -> None:
    """Write how the attempt ended: state, cause and instant together, as the database asks."""
    attempt.cause, attempt.exit_code, attempt.message = end.cause, end.exit_code, end.message
    attempt.ended_at = clock.now()
    fields = ["cause", "exit_code", "message", "ended_at"]
    transition(attempt, "end", actor=actor, reason=end.message, data={"cause": end.cause}, fields=fields)


def job_finish(job: Job, outcome: Outcome, *, actor: Actor) -> None:
    """Move the job by the outcome of its attempt and tell the rooms above when it is over."""
    job.reason, job.reason_code, job.reason_data = outcome.text, outcome.code, outcome.data
    job.not_before = clock.now() + timedelta(seconds=outcome.delay_s) if outcome.delay_s else None
    target = job.machine.target(job.state, outcome.event)
    job.ended_at = None if target in (JobState.QUEUED, JobState.PAUSED) else clock.now()
    fields = ["reason", "reason_code", "reason_data", "not_before", "ended_at"]
    transition(job, outcome.event, actor=actor, reason=outcome.text, data=outcome.data, fields=fields)
    if job.ended_at is not None:
        outbox.emit("job.ended", subject=job, data={"state": job.state, "reason": outcome.code})
    wake.wake_scheduler()


def job_facts(job: Job, attempt: Attempt, members: Sequence[AttemptMember]) -> JobFacts:
    """What the outcome depends on. Tries count from when the job last came into the queue by a person's act."""
    ended = Attempt.objects.filter(job=job, assigned_at__gte=job.queued_at, state=AttemptState.ENDED)
    causes = list(ended.values_list("cause", "exit_code"))
    asked_at = attempt.stop_requested_at
    return JobFacts(
        state=JobState(job.state),
        stop_reason=attempt.stop_reason,
        max_retries=job.max_retries,
        failures=sum(cause == Cause.FINISHED and code != 0 for cause, code in causes),
        launch_failures=sum(cause == Cause.LAUNCH_FAILED for cause, _code in causes),
        has_checkpoint_dir=bool(job.checkpoint_dir),
        has_newer_checkpoint=any(_is_newer(m.newest_checkpoint_at, m.signalled_at or asked_at) for m in members),
    )


def _is_newer(checkpoint_at: datetime | None, stopped_at: datetime | None) -> bool:
    return checkpoint_at is not None and stopped_at is not None and checkpoint_at > stopped_at


def _set_stop(attempt: Attempt, reason: str, members: Sequence[AttemptMember]) -> None:
    """Write the request and wake the nodes: their next reply carries the order."""
    attempt.stop_reason, attempt.stop_requested_at = reason, clock.now()
    attempt.save(update_fields=["stop_reason", "stop_requested_at"])
    push_soon(attempt.launcher, *(m for m in members if not is_ended(m) and not is_unfetched(m)))


def _end_unfetched(members: Sequence[AttemptMember], actor: Actor) -> None:
    for member in members:
        if not is_ended(member) and is_unfetched(member):
            text = "It was stopped before the node fetched it."
            member_end(member, ExitRecord("stopped", None, None, None, clock.now(), text), actor=actor)


def _target(attempt: Attempt, members: Sequence[AttemptMember]) -> AttemptState:
    """The state that live members give to their attempt."""
    live = {member.state for member in members if not is_ended(member)}
    if AttemptState.UNKNOWN in live:
        return AttemptState.UNKNOWN
    if attempt.stop_reason or AttemptState.STOPPING in live:
        return AttemptState.STOPPING
    if live == {AttemptState.RUNNING}:
        return AttemptState.RUNNING
    if live == {AttemptState.ASSIGNED} and len(live) == len({m.state for m in members}):
        return AttemptState.ASSIGNED
    return AttemptState.STARTING


def _step(attempt: Attempt, target: AttemptState, actor: Actor) -> None:
    """Go there if the table has the step: a member that lags behind does not pull its attempt back."""
    event = _EVENTS.get(target)
    if event is not None and (attempt.state, event) in attempt.machine.table:
        transition(attempt, event, actor=actor)


def _started(job: Job, attempt: Attempt, members: Sequence[AttemptMember], actor: Actor) -> None:
    if attempt.started_at is None:
        starts = [member.started_at for member in members if member.started_at is not None]
        attempt.started_at = min(starts, default=clock.now())
        attempt.save(update_fields=["started_at"])
    job.reason, job.reason_code, job.reason_data = "", "", {}
    transition(job, "run", actor=actor, fields=["reason", "reason_code", "reason_data"])


def _end(job: Job, attempt: Attempt, members: Sequence[AttemptMember], actor: Actor) -> None:
    held = DeviceAllocation.objects.filter(member__attempt=attempt)
    is_broken = held.filter(device__state=DeviceState.LOST).exists()
    end = ending([exit_of(m) for m in members], attempt.stop_reason, has_lost_device=is_broken)
    if attempt.started_at is None:
        attempt.started_at = min((m.started_at for m in members if m.started_at is not None), default=None)
        attempt.save(update_fields=["started_at"])
    attempt_end(attempt, end, actor=actor)
    interruption_book(attempt, members, milli_gpus=job.milli_gpus)
    job_finish(job, job_outcome(end, job_facts(job, attempt, members)), actor=actor)
