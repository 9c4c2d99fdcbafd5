"""Silent nodes: what runs there is *unknown*, never ended, and never started a second time."""

from datetime import datetime

from django.db.models import QuerySet

from agent.messages import ExitRecord
from inventory.selectors import unheard_nodes
from kernel import clock, sweep
from kernel.states import transition
from kernel.unit import lock
from scheduling.models import AttemptMember, Job
from scheduling.services.attempts import settle
from scheduling.services.release import is_unfetched, member_end
from scheduling.states import AttemptState


def members_lose_sight() -> int:
    """Turn every live member of a silent node *unknown* and return how many. Locks their jobs, one by one; one that
    cannot be changed does not keep the others.

    What the node has never fetched cannot run there: it ends, and its job goes back to its place in the queue.
    """
    job_ids = _silent_members().order_by("attempt__job_id").values_list("attempt__job_id", flat=True).distinct()
    return sum(sweep.each("lose_sight", job_ids, _lose_sight))


def _lose_sight(job_id: int) -> int:
    job: Job = lock({Job: [job_id]})[Job][job_id]
    members = list(_silent_members().filter(attempt__job=job_id).select_related("attempt", "node"))
    for member in members:
        _unknown(member, clock.now())
    for member in members:
        attempt = member.attempt
        settle(job, attempt, list(attempt.members.order_by("rank")), actor=None)
    return len(members)


def _unknown(member: AttemptMember, now: datetime) -> None:
    if is_unfetched(member):
        text = f"Node {member.node.name} fell silent before it fetched the launch."
        member_end(member, ExitRecord("lost", None, None, None, now, text), actor=None)
    else:
        transition(member, "lose_sight", actor=None, reason=f"Node {member.node.name} is silent.")


def _silent_members() -> QuerySet[AttemptMember]:
    """Live members, not unknown yet, of nodes not heard for longer than their pool allows (database's clock)."""
    live = AttemptMember.objects.exclude(state__in=[AttemptState.ENDED, AttemptState.UNKNOWN])
    return live.filter(node__in=unheard_nodes(clock.database_now()))
