"""What nodes hold: who shares a device now, and whom draining a node would hurt."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from inventory.models import Node
from inventory.selectors import unheard_nodes
from inventory.states import NodeState
from kernel import clock
from scheduling.models import AttemptMember, DeviceAllocation, Job
from scheduling.states import AttemptState


@dataclass(frozen=True, slots=True)
class HurtJob:
    """A job on the node, and when its max runtime ends it; None: nobody knows."""

    job: Job
    ends_by: datetime | None


@dataclass(frozen=True, slots=True)
class DrainImpact:
    """Draining stops nothing: these jobs run on and hold the node until they end; gangs reach beyond the node."""

    node: Node
    jobs: list[HurtJob]
    milli_gpus: int

    @property
    def is_empty_by(self) -> datetime | None:
        """When the last job must have ended; None if one of them has no max runtime, or there is none."""
        ends = [hurt.ends_by for hurt in self.jobs]
        known = [end for end in ends if end is not None]
        return max(known) if known and len(known) == len(ends) else None


def drain_impact(node: Node) -> DrainImpact:
    """Which jobs are on the node now."""
    members = AttemptMember.objects.filter(node=node).exclude(state=AttemptState.ENDED)
    rows = list(members.select_related("attempt__job__project", "attempt__job__owner").order_by("attempt__job_id"))
    held = DeviceAllocation.objects.filter(member__in=rows, released_at__isnull=True)
    return DrainImpact(node, [_hurt(member) for member in rows], sum(held.values_list("milli", flat=True)))


def is_silent(node: Node) -> bool:
    """Whether the node is down, or was not heard for longer than its pool allows (database's clock): a draining node
    that falls silent stays draining, and what is on it is unknown all the same. At most two statements."""
    return node.state == NodeState.DOWN or unheard_nodes(clock.database_now()).filter(pk=node.pk).exists()


def _hurt(member: AttemptMember) -> HurtJob:
    job, started_at = member.attempt.job, member.attempt.started_at or member.attempt.assigned_at
    allowed = member.attempt.max_runtime_s
    ends_by = None if allowed is None else started_at + timedelta(seconds=allowed)
    return HurtJob(job, ends_by)
