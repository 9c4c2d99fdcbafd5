"""A node says what it holds and hears what it should hold. Saying it twice changes nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from agent.messages import MemberReport, StopOrder, StopReason, Sync, SyncReply
from inventory.models import Node
from inventory.services import node_report
from kernel import clock
from kernel.unit import lock, unit_of_work
from scheduling.models import AttemptMember, Job
from scheduling.outcome import GANG, LOST, PREEMPTED
from scheduling.services.attempts import settle
from scheduling.services.launches import grace_s
from scheduling.services.release import is_ended
from scheduling.services.reports import is_quiet, report_apply
from scheduling.services.skew import reports_of
from scheduling.states import AttemptState

Reports = Mapping[int, MemberReport]
SHORTEST_INTERVAL_S = 5
LONGEST_INTERVAL_S = 30
_REASONS: dict[str, StopReason] = {
    "user": "user",
    "timeout": "timeout",
    PREEMPTED: "preempted",
    LOST: "preempted",
    "project": "project",
    GANG: "superseded",
}


def node_sync(*, node: Node, sync: Sync) -> SyncReply:
    """Keep what the node reports, bring its members' attempts and jobs in line, and say what it should do.

    First the node's own report in a unit of its own (inventory), then, where a member changed, one unit that
    locks the jobs on this node. A message older than one of the same boot changes nothing but is answered. What it
    says of instants counts by the portal's clock.
    """
    reports = reports_of(sync, clock.now())
    reported = node_report(node=node, sync=sync)
    held = held_members(node)
    if reported.is_current and held:
        held = _take_in(node, held, reports)
    return _reply(held, sync, reports, _interval_s(node))


def _interval_s(node: Node) -> int:
    """How often the node should speak: a dozen times before its pool would take it for lost."""
    return max(SHORTEST_INTERVAL_S, min(LONGEST_INTERVAL_S, node.pool.lost_after_s // 12))


def held_members(node: Node) -> list[AttemptMember]:
    """Every member that the node has not been told to forget."""
    rows = AttemptMember.objects.filter(node=node, is_forgotten=False)
    return list(rows.select_related("attempt__job", "node__pool").order_by("pk"))


def _take_in(node: Node, held: list[AttemptMember], reports: Reports) -> list[AttemptMember]:
    now = clock.now()
    quiet = [member for member in held if is_quiet(member, reports.get(member.pk))]
    _refresh(quiet, reports, now)
    loud = [member for member in held if member not in quiet]
    if not loud:
        return held
    with unit_of_work():
        jobs = lock({Job: {member.attempt.job_id for member in loud}})[Job]
        rows = AttemptMember.objects.filter(pk__in=[member.pk for member in loud]).select_related("attempt")
        fresh = {member.pk: member for member in rows}
        for member in fresh.values():
            report_apply(member, reports.get(member.pk), now=now, actor=node)
        for member in fresh.values():
            _settle(jobs[member.attempt.job_id], member, node)
    return held_members(node)


def _refresh(members: Sequence[AttemptMember], reports: Reports, now: datetime) -> None:
    """What nobody else writes, of members whose state stays: no lock is needed."""
    for member in members:
        report = reports[member.pk]
        member.last_report_at = now
        member.log_bytes = report.log_bytes
        member.newest_checkpoint_at = report.newest_checkpoint_at
    fields = ["last_report_at", "log_bytes", "newest_checkpoint_at"]
    if members:
        AttemptMember.objects.bulk_update(members, fields)


def _settle(job: Job, member: AttemptMember, node: Node) -> None:
    attempt = member.attempt
    others = attempt.members.exclude(pk=member.pk)
    settle(job, attempt, sorted([member, *others], key=lambda m: m.rank), actor=node)


def _reply(held: Sequence[AttemptMember], sync: Sync, reports: Reports, interval_s: int) -> SyncReply:
    known = {member.pk: member for member in held}
    run = tuple(pk for pk, member in known.items() if pk not in reports and _is_to_run(member))
    orders = (_order(known.get(report.member_id), report) for report in sync.members)
    forget = tuple(r.member_id for r in sync.members if r.state == "ended" and _may_forget(known.get(r.member_id)))
    return SyncReply(
        server_time=clock.now(),
        run=run,
        stop=tuple(order for order in orders if order is not None),
        forget=forget,
        sync_interval_s=interval_s,
        sample_interval_s=2 * interval_s,
    )


def _is_to_run(member: AttemptMember) -> bool:
    attempt = member.attempt
    is_live = not is_ended(member) and attempt.state != AttemptState.ENDED
    return is_live and not attempt.stop_reason and member.last_report_at is None


def _order(member: AttemptMember | None, report: MemberReport) -> StopOrder | None:
    """What to stop: what the portal does not want, does not know, or has given to a newer attempt."""
    if report.state == "ended":
        return None
    if member is None or is_ended(member) or report.fencing != member.attempt.number:
        return StopOrder(report.member_id, report.fencing, "superseded", 0)
    attempt = member.attempt
    if not attempt.stop_reason:
        return None
    reason = _REASONS.get(attempt.stop_reason, "superseded")
    return StopOrder(member.pk, report.fencing, reason, grace_s(attempt.job, member), attempt.job.signal)


def _may_forget(member: AttemptMember | None) -> bool:
    """What ended and is not held any more was forgotten before, or never was this portal's."""
    return member is None
