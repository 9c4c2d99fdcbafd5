"""A node's clock and the portal's: what a node says of instants, told by the portal's clock.

Max runtimes, *newer than the request to stop* and *which member failed first* compare instants of several machines.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from agent.messages import ExitRecord, MemberReport, Sync

ON_THE_WAY = timedelta(seconds=2)
"""So long a message may have travelled. A difference within it says nothing about the clock."""


def reports_of(sync: Sync, received_at: datetime) -> dict[int, MemberReport]:
    """The reports by member, their instants by the portal's clock, which showed ``received_at`` when it came."""
    ahead = sync.sent_at - received_at
    if abs(ahead) <= ON_THE_WAY:
        return {report.member_id: report for report in sync.members}
    return {report.member_id: _shifted(report, -ahead) for report in sync.members}


def _shifted(report: MemberReport, by: timedelta) -> MemberReport:
    return replace(
        report,
        started_at=_plus(report.started_at, by),
        newest_checkpoint_at=_plus(report.newest_checkpoint_at, by),
        signalled_at=_plus(report.signalled_at, by),
        exit=None if report.exit is None else _exit(report.exit, by),
    )


def _exit(record: ExitRecord, by: timedelta) -> ExitRecord:
    ended_at = _plus(record.ended_at, by) or record.ended_at
    return replace(record, started_at=_plus(record.started_at, by), ended_at=ended_at)


def _plus(at: datetime | None, by: timedelta) -> datetime | None:
    """None where nothing is known: also for what would fall outside of the calendar."""
    try:
        return None if at is None else at + by
    except OverflowError:
        return None
