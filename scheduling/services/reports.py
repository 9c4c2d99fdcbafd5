"""What one member's report changes. Its job is locked by the caller, who settles the attempt afterwards."""

from datetime import datetime, timedelta

from agent.messages import ExitRecord, MemberReport
from kernel.states import transition
from kernel.subject import Actor
from scheduling.models import AttemptMember
from scheduling.services.release import devices_release, is_ended, is_unfetched, member_end
from scheduling.states import AttemptState

SETTLE = timedelta(seconds=15)
"""Messages of a node may overtake each other for this long: only then is silence about a member an answer."""

_EVENTS = {"starting": "start", "running": "run", "stopping": "stop"}


def is_quiet(member: AttemptMember, report: MemberReport | None) -> bool:
    """Whether the report changes no state: the member goes on as the portal has it."""
    if report is None or report.state == "ended" or is_ended(member) or report.fencing != member.attempt.number:
        return False
    return report.state == member.state or (member.state, _EVENTS[report.state]) not in member.machine.table


def report_apply(member: AttemptMember, report: MemberReport | None, *, now: datetime, actor: Actor) -> None:
    """Bring the member in line with what its node says of it, or with the node not naming it (None)."""
    if report is not None and report.fencing != member.attempt.number:
        return
    if is_ended(member):
        _ended_before(member, report)
    elif report is None:
        _not_named(member, now, actor)
    else:
        _named(member, report, now, actor)


def _ended_before(member: AttemptMember, report: MemberReport | None) -> None:
    """The portal knew already. What matters now: is it gone from the node, and is its log whole?"""
    if report is not None and report.state != "ended":
        return
    devices_release(member)
    if report is not None:
        member.log_bytes = max(member.log_bytes, report.log_bytes)
    if report is None or member.log_stored_bytes >= member.log_bytes:
        member.is_forgotten = True
    member.save(update_fields=["log_bytes", "is_forgotten"])


def _named(member: AttemptMember, report: MemberReport, now: datetime, actor: Actor) -> None:
    member.last_report_at = now
    member.started_at = report.started_at or member.started_at
    member.log_bytes = report.log_bytes
    member.newest_checkpoint_at = report.newest_checkpoint_at
    member.signalled_at = report.signalled_at
    fields = ["last_report_at", "started_at", "log_bytes", "newest_checkpoint_at", "signalled_at"]
    member.save(update_fields=fields)
    if report.exit is not None:
        member_end(member, report.exit, actor=actor)
        _ended_before(member, report)
    elif report.state in _EVENTS and (member.state, _EVENTS[report.state]) in member.machine.table:
        transition(member, _EVENTS[report.state], actor=actor)


def _not_named(member: AttemptMember, now: datetime, actor: Actor) -> None:
    """A current message of the node that leaves this member out."""
    is_stopped = bool(member.attempt.stop_reason)
    if member.last_report_at is not None:
        if now - member.last_report_at > SETTLE:
            text = "The node no longer knows it."
            member_end(member, ExitRecord("lost", None, None, member.started_at, now, text), actor=actor)
    elif is_stopped and (is_unfetched(member) or _was_fetched_before(member, now - SETTLE)):
        text = "It was stopped before it started."
        member_end(member, ExitRecord("stopped", None, None, None, now, text), actor=actor)
    elif member.state == AttemptState.UNKNOWN and not is_stopped:
        # The reply tells the node to run it; one launch key starts once, however often it is told.
        transition(member, "start", actor=actor, reason="The node is back.")


def _was_fetched_before(member: AttemptMember, at: datetime) -> bool:
    return member.fetched_at is not None and member.fetched_at < at
