"""Capacity and reserve: dated facts that an admin changes, refused where promises exceed them (INV1, INV3)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import CapacityFact, DeviceState, GpuModel, Node, ReserveFact
from inventory.states import NodeState
from kernel import audit, clock, outbox
from kernel.calendar import organisation_zone
from kernel.errors import Conflict, Invalid
from kernel.formats import exact_instant
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.unit import lock, unit_of_work
from quotas.ledger import Entry, Plan, supersede
from quotas.services.law import promises_kept
from quotas.services.pools import cover_pools
from quotas.windows import LATE

MOST_BASIS_POINTS = 10_000


def capacity_change(
    *,
    actor: Person,
    node_id: int,
    gpus: int,
    gpu_model_id: int | None = None,
    effective_from: datetime | None = None,
    reason: str = "",
) -> Node:
    """So many GPUs of a node count as capacity from a moment on, whatever was planned for later. Admins only.

    At most as many as the node has registered; none of a spot node. Locks GPU models and node. Raises
    ``PromisesExceed`` if at any later instant more is promised, ``Invalid``, ``Conflict``.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        locked = lock(capacity_locks(node_id))
        node: Node = locked[Node][node_id]
        model_id = gpu_model_id or node.gpu_model_id or 0
        if model_id not in locked[GpuModel]:
            raise Invalid({"gpu_model": _("Node %(node)s has no such GPU model.") % {"node": node.name}})
        _check_node(node, model_id, gpus)
        since = since_when(effective_from)
        with promises_kept([model_id], since):
            before = _replace_fact(actor, node, model_id, gpus, since)
            cover_pools([node.pool], since, actor=actor)
        after = {"gpu_model": locked[GpuModel][model_id].name, "gpus": gpus, "from": since, "reason": reason}
        audit.record("capacity.changed", actor=actor, subject=node, before={"planned": before}, after=after)
    return node


def capacity_remove(*, actor: Person, node_id: int, effective_from: datetime | None = None, reason: str = "") -> Node:
    """No GPU of a node counts as capacity from a moment on. Admins only; locks and raises as ``capacity_change``."""
    with unit_of_work():
        node: Node = lock(capacity_locks(node_id))[Node][node_id]
        capacity_take_out(actor=actor, node=node, effective_from=effective_from, reason=reason)
    return node


def capacity_take_out(*, actor: Person, node: Node, effective_from: datetime | None = None, reason: str = "") -> None:
    """``capacity_remove`` for an act that has locked what ``capacity_locks`` names, such as removing a node."""
    require_role(actor, Role.ADMIN)
    since = since_when(effective_from)
    models = _capacity_models(node.pk)
    with unit_of_work(), promises_kept(models, since):
        before = {pk: _replace_fact(actor, node, pk, 0, since) for pk in models}
        cover_pools([node.pool], since, actor=actor)
        after = {"gpus": 0, "from": since, "reason": reason}
        audit.record("capacity.removed", actor=actor, subject=node, before={"planned": before}, after=after)


def capacity_locks(node_id: int) -> dict[type[Any], Iterable[int]]:
    """What an act that changes a node's capacity locks: the node, and every GPU model it has or had."""
    models = Node.objects.filter(pk=node_id, devices__isnull=False).values_list("devices__gpu_model", flat=True)
    return {GpuModel: {*models, *_capacity_models(node_id)}, Node: [node_id]}


def registered_models(node: Node) -> QuerySet[GpuModel]:
    """The GPU models of a node's devices."""
    return GpuModel.objects.filter(devices__node=node).distinct().order_by("name")


def reserve_set(
    *,
    actor: Person,
    gpu_model_id: int,
    basis_points: int,
    effective_from: datetime | None = None,
    reason: str = "",
) -> ReserveFact:
    """The emergency reserve of a model, in basis points of its capacity, from a moment on. Admins only.

    Locks the GPU model. Raises ``PromisesExceed`` where less would be usable than is promised.
    """
    require_role(actor, Role.ADMIN)
    if not 0 <= basis_points <= MOST_BASIS_POINTS:
        text = _("%(value)s: from 0 to %(most)s hundredths of a per cent.")
        raise Invalid({"basis_points": text % {"value": basis_points, "most": MOST_BASIS_POINTS}})
    with unit_of_work():
        model: GpuModel = lock({GpuModel: [gpu_model_id]})[GpuModel][gpu_model_id]
        since = since_when(effective_from)
        with promises_kept([model.pk], since):
            rows = ReserveFact.objects.filter(gpu_model=model)
            before = _make_room(rows, since, "basis_points")
            fact = ReserveFact.objects.create(
                gpu_model=model, basis_points=basis_points, during=to_range(Interval(since)), set_by=actor
            )
        after = {"basis_points": basis_points, "from": since, "reason": reason}
        audit.record("reserve.set", actor=actor, subject=model, before={"planned": before}, after=after)
        outbox.emit("capacity.changed", subject=model, data={"gpu_model": model.pk})
    return fact


def since_when(effective_from: datetime | None) -> datetime:
    """The moment asked for, now by default. Raises ``Invalid`` for the past."""
    now = clock.now()
    if effective_from is not None and effective_from < now - LATE:
        words = _("%(at)s lies in the past.") % {"at": exact_instant(effective_from, organisation_zone())}
        raise Invalid({"effective_from": words})
    return max(effective_from or now, now)


def _capacity_models(node_id: int) -> list[int]:
    facts = CapacityFact.objects.filter(node=node_id).order_by("gpu_model_id")
    return list(facts.values_list("gpu_model_id", flat=True).distinct())


def _check_node(node: Node, model_id: int, gpus: int) -> None:
    if node.state == NodeState.REMOVED:
        raise Conflict(_("Node %(node)s was removed.") % {"node": node.name})
    if not node.backs_guarantees and gpus:
        raise Conflict(_("Node %(node)s is a spot node; burst GPUs never back guarantees.") % {"node": node.name})
    registered = node.devices.filter(gpu_model=model_id).exclude(state=DeviceState.RETIRED).count()
    if not 0 <= gpus <= registered:
        text = _("%(asked)s asked; node %(node)s has registered %(registered)s of this model.")
        words = text % {"asked": gpus, "node": node.name, "registered": registered}
        raise Invalid({"gpus": words})


def _replace_fact(actor: Person, node: Node, model_id: int, gpus: int, since: datetime) -> list[dict[str, Any]]:
    """From ``since`` on this many GPUs; returns what was planned before."""
    before = _make_room(CapacityFact.objects.filter(node=node, gpu_model=model_id), since, "gpus")
    if gpus:
        CapacityFact.objects.create(
            node=node,
            gpu_model_id=model_id,
            pool=node.pool,
            gpus=gpus,
            during=to_range(Interval(since)),
            accepted_by=actor,
        )
    data = {"gpu_model": model_id, "gpus": gpus, "pool": node.pool_id}
    outbox.emit("capacity.changed", subject=node, data=data)
    return before


def _make_room(rows: Any, since: datetime, amount: str) -> list[dict[str, Any]]:
    """End the fact in force at ``since`` and take back those after it; what they were, as plain values."""
    facts = {row.pk: row for row in rows.filter(during__overlap=to_range(Interval(since)))}
    plan: Plan = supersede(
        [Entry(pk, to_interval(row.during), getattr(row, amount)) for pk, row in facts.items()], Interval(since)
    )
    before = [
        {amount: getattr(row, amount), "from": row.during.lower, "to": row.during.upper} for row in facts.values()
    ]
    for entry in plan.ended:
        facts[entry.id].during = to_range(entry.during)
        facts[entry.id].save(update_fields=["during"])
    for entry in plan.voided:
        facts[entry.id].delete()
    return before
