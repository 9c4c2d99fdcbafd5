"""A member is known to have ended: keep its exit record, free its devices, charge what it held."""

import msgspec

from agent.messages import ExitRecord
from kernel import clock
from kernel.states import transition
from kernel.subject import Actor
from scheduling import wake
from scheduling.models import AttemptMember, DeviceAllocation
from scheduling.services.charges import charge_allocations
from scheduling.states import AttemptState


def member_end(member: AttemptMember, record: ExitRecord, *, actor: Actor, frees: bool = True) -> None:
    """End a live member (its job is locked). ``frees`` false: the devices stay taken until the node confirms."""
    member.exit_record = msgspec.to_builtins(record)
    member.started_at = member.started_at or record.started_at
    member.ended_at = clock.now()
    fields = ["exit_record", "started_at", "ended_at"]
    transition(member, "end", actor=actor, reason=record.message, data={"cause": record.cause}, fields=fields)
    if frees:
        devices_release(member)


def devices_release(member: AttemptMember) -> None:
    """Free what the ended member still holds, charge it up to the member's end, and say that there is room. Again:
    nothing."""
    live = list(
        DeviceAllocation.objects.filter(member=member, released_at__isnull=True).select_related(
            "device", "device__node", "member__attempt__job"
        )
    )
    if not live:
        return
    now = clock.now()
    starts = max(allocation.allocated_at for allocation in live)
    released_at = max(now, starts)
    DeviceAllocation.objects.filter(pk__in=[a.pk for a in live]).update(released_at=released_at)
    charge_allocations(live, until=max(member.ended_at or released_at, starts))
    wake.wake_scheduler()


def exit_of(member: AttemptMember) -> ExitRecord:
    """The stored exit record of an ended member."""
    return msgspec.convert(member.exit_record, ExitRecord)


def is_ended(member: AttemptMember) -> bool:
    return member.state == AttemptState.ENDED


def is_unfetched(member: AttemptMember) -> bool:
    """Whether nothing of it can be running: no node has fetched it, and none will once its attempt is stopped."""
    return member.fetched_at is None and member.last_report_at is None
