"""An admin drains, maintains, removes or gives up a node. What that hurts is said before (``drain_impact``)."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from agent.messages import ExitRecord
from inventory.models import Node
from kernel import audit, clock, outbox
from kernel.errors import Conflict, NotFound
from kernel.states import transition
from kernel.unit import lock, unit_of_work
from quotas.services import capacity_locks, capacity_take_out
from scheduling import wake
from scheduling.errors import NodeNotEmpty
from scheduling.models import AttemptMember, Job
from scheduling.selectors import is_silent
from scheduling.services.attempts import settle
from scheduling.services.release import devices_release, member_end
from scheduling.states import AttemptState


def node_drain(*, actor: Person, node_id: int, reason: str = "") -> Node:
    """Give the node nothing new; what runs there runs on. Locks the node. Raises ``IllegalTransition``."""
    return _change(actor, node_id, "drain", reason)


def node_undrain(*, actor: Person, node_id: int, reason: str = "") -> Node:
    """Take a draining or maintained node into use again. Locks the node. Raises ``IllegalTransition``."""
    return _change(actor, node_id, "undrain", reason)


def node_maintain(*, actor: Person, node_id: int, reason: str = "") -> Node:
    """Take a drained, empty node out for work on it. Locks the node. Raises ``NodeNotEmpty``."""
    return _change(actor, node_id, "maintain", reason, must_be_empty=True)


def node_remove(*, actor: Person, node_id: int, reason: str = "") -> Node:
    """Take an empty node away for good, and its GPUs out of capacity. What was given up on it is free with it.

    Locks GPU models and node. Raises ``NodeNotEmpty``, ``IllegalTransition``, and ``PromisesExceed`` where more is
    guaranteed than would be left.
    """
    return _change(actor, node_id, "remove", reason, must_be_empty=True)


def node_declare_lost(*, actor: Person, node_id: int, reason: str = "") -> list[Job]:
    """An admin states that a silent node will not come back: its jobs are queued again, at their old place.

    Should it come back all the same, its old attempts are superseded there and stopped; its devices stay taken
    until it confirms that they ended. Locks the jobs, then the node. Raises ``Conflict`` for a node that is heard.
    """
    require_role(actor, Role.ADMIN)
    _require_known(node_id)
    job_ids = list(_live(node_id).values_list("attempt__job_id", flat=True))
    with unit_of_work():
        rows = lock({Job: job_ids, Node: [node_id]})
        node: Node = rows[Node][node_id]
        if not is_silent(node):
            raise Conflict(_("This node still reports. Drain it instead."), data={"state": node.state})
        members = list(_live(node_id).filter(attempt__job__in=job_ids).select_related("attempt"))
        for member in members:
            _give_up(rows[Job][member.attempt.job_id], member, node)
        after = {"reason": reason, "jobs": sorted(job_ids)}
        audit.record("node.declare_lost", actor=actor, subject=node, after=after)
        wake.wake_scheduler()
    return [rows[Job][pk] for pk in sorted(rows[Job])]


def _give_up(job: Job, member: AttemptMember, node: Node) -> None:
    text = f"Node {node.name} was declared lost."
    record = ExitRecord("lost", None, None, member.started_at, clock.now(), text)
    member_end(member, record, actor=None, frees=False)
    settle(job, member.attempt, list(member.attempt.members.order_by("rank")), actor=None)


def _change(actor: Person, node_id: int, event: str, reason: str, *, must_be_empty: bool = False) -> Node:
    require_role(actor, Role.ADMIN)
    _require_known(node_id)
    with unit_of_work():
        node: Node = lock(capacity_locks(node_id) if event == "remove" else {Node: [node_id]})[Node][node_id]
        before = node.state
        node.machine.target(node.state, event)
        if must_be_empty:
            _require_empty(node)
        transition(node, event, actor=actor, reason=reason)
        if event == "remove":
            _free_all(node)
            capacity_take_out(actor=actor, node=node, reason=reason)
        change = {"from": before, "to": node.state}
        outbox.emit("node.state_changed", subject=node, data=change)
        after = {"state": node.state, "reason": reason}
        audit.record(f"node.{event}", actor=actor, subject=node, before={"state": before}, after=after)
        wake.wake_scheduler()
    return node


def _require_empty(node: Node) -> None:
    held = list(_live(node.pk).select_related("attempt__job").order_by("attempt__job_id"))
    if held:
        names = ", ".join(member.attempt.job.name for member in held[:5])
        text = _("%(n)s jobs are on %(node)s (%(names)s). Drain it and wait, or stop them.")
        jobs = [member.attempt.job_id for member in held]
        raise NodeNotEmpty(text % {"n": len(held), "node": node.name, "names": names}, data={"jobs": jobs})


def _free_all(node: Node) -> None:
    """The hardware leaves: nothing holds it any more."""
    given_up = AttemptMember.objects.filter(node=node, allocations__released_at__isnull=True).distinct()
    for member in given_up.select_related("attempt__job"):
        devices_release(member)


def _live(node_id: int) -> QuerySet[AttemptMember]:
    return AttemptMember.objects.filter(node=node_id).exclude(state=AttemptState.ENDED)


def _require_known(node_id: int) -> None:
    if not Node.objects.filter(pk=node_id).exists():
        raise NotFound
