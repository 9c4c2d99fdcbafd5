"""Dedicated pools: a pool's claim covers its GPUs, so that nobody else is promised them (INV2)."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import CapacityFact, GpuModel, Node, Pool, PoolKind
from inventory.services import move_capacity
from inventory.states import NodeState
from kernel import audit, clock, outbox
from kernel.errors import Conflict, Invalid
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.subject import Actor
from kernel.unit import lock, unit_of_work
from quotas.errors import Changed
from quotas.ledger import cover, cover_within
from quotas.models import Claim, ClaimKind, Resource
from quotas.selectors import live_claims, model_facts
from quotas.services.access import end_all_access
from quotas.services.law import promises_kept

COVERS = "pool"
"""``Claim.source`` of what covers a dedicated pool."""


def pool_dedicate(*, actor: Person, pool_id: int, purpose: str = "", reason: str = "") -> Pool:
    """Keep a pool's GPUs for its purpose from now on: its claim covers all of them. Admins only.

    Locks pool and GPU models. Raises ``PromisesExceed`` if others are promised more than would be left.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        pool, models = _lock_pool(pool_id)
        now = clock.now()
        before = {"kind": pool.kind, "purpose": pool.purpose}
        pool.kind, pool.purpose = PoolKind.DEDICATED, purpose or pool.purpose
        pool.save(update_fields=["kind", "purpose"])
        with promises_kept(models, now):
            cover_pools([pool], now, actor=actor)
        after = {"kind": pool.kind, "purpose": pool.purpose, "reason": reason}
        audit.record("pool.dedicated", actor=actor, subject=pool, before=before, after=after)
    return pool


def pool_release(*, actor: Person, pool_id: int, reason: str = "") -> Pool:
    """Give a dedicated pool's GPUs back to all; access to it ends. Admins only. Locks pool and GPU models."""
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        pool, _models = _lock_pool(pool_id)
        before = {"kind": pool.kind}
        pool.kind = PoolKind.SHARED
        pool.save(update_fields=["kind"])
        cover_pools([pool], clock.now(), actor=actor)
        end_all_access(pool, actor, reason)
        after = {"kind": pool.kind, "reason": reason}
        audit.record("pool.released", actor=actor, subject=pool, before=before, after=after)
    return pool


def pool_cover(*, pool_id: int) -> None:
    """Bring a dedicated pool's claim in line with its capacity, after a node has joined it.

    For the portal itself. Covers what is free and no more: a node's arrival is not refused because a reserve or
    another promise takes part of it. Doing it again changes nothing.
    """
    with unit_of_work():
        pool, _models = _lock_pool(pool_id)
        cover_pools([pool], clock.now(), actor=None, within_free=True)


def node_move(*, actor: Person, node_id: int, pool_id: int, reason: str = "") -> Node:
    """Move a node to another pool, its capacity and what covers it along, from now on. Admins only.

    Locks GPU models and node. Raises ``PromisesExceed`` where a dedicated pool would take what others are
    promised, ``Conflict`` for a removed node.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        models = set(CapacityFact.objects.filter(node=node_id).values_list("gpu_model_id", flat=True))
        node: Node = lock({GpuModel: models, Node: [node_id]})[Node][node_id]
        target = Pool.objects.filter(pk=pool_id).first()
        if target is None:
            raise Invalid({"pool": _("There is no pool %(value)s.") % {"value": pool_id}})
        if node.state == NodeState.REMOVED:
            raise Conflict(_("Node %(node)s was removed.") % {"node": node.name})
        if node.pool_id != target.pk:
            now, source = clock.now(), node.pool
            with promises_kept(models, now):
                move_capacity(actor=actor, node=node, pool=target)
                cover_pools([source, target], now, actor=actor)
    return node


def cover_pools(pools: Iterable[Pool], since: datetime, *, actor: Actor, within_free: bool = False) -> None:
    """Make the claims of these pools what their kind and capacity say, from ``since`` on.

    The caller holds the locks of the GPU models. A shared pool holds no claim.
    """
    for pool in pools:
        facts = CapacityFact.objects.filter(pool=pool).filter(during__overlap=to_range(Interval(since)))
        claims = live_claims().filter(pool=pool, kind=ClaimKind.BASE).filter(during__overlap=to_range(Interval(since)))
        models = {*facts.values_list("gpu_model_id", flat=True), *claims.values_list("gpu_model_id", flat=True)}
        for model_id in sorted(pk for pk in models if pk is not None):
            _cover_model(pool, model_id, since, actor, within_free=within_free)


def _cover_model(pool: Pool, model_id: int, since: datetime, actor: Actor, *, within_free: bool) -> None:
    window = Interval(since)
    claims = live_claims().filter(pool=pool, gpu_model=model_id, kind=ClaimKind.BASE)
    rows = list(claims.filter(during__overlap=to_range(Interval(since))).order_by("pk"))
    wanted = []
    if pool.kind == PoolKind.DEDICATED:
        facts = CapacityFact.objects.filter(pool=pool, gpu_model=model_id, during__overlap=to_range(window))
        amounts = [(to_interval(fact.during), fact.gpus) for fact in facts]
        wanted = cover(amounts, window)
        if within_free:
            others = model_facts([model_id], window, without_claims=[row.pk for row in rows])[model_id]
            wanted = cover_within(amounts, others, window)
    have = [(to_interval(row.during).intersection(window), row.guaranteed) for row in rows]
    if sorted(have, key=str) == sorted(wanted, key=str):
        return
    person = actor if isinstance(actor, Person) else None
    for row in rows:
        _end_cover(row, since, person)
    for during, gpus in wanted:
        claim = Claim.objects.create(
            pool=pool,
            resource=Resource.GPU,
            gpu_model_id=model_id,
            guaranteed=gpus,
            limit=gpus,
            during=to_range(during),
            source=COVERS,
            granted_by=person,
            granted_at=clock.now(),
        )
        outbox.emit("quota.changed", subject=claim, data={"gpu_model": model_id, "pool": pool.pk})


def _end_cover(row: Claim, since: datetime, person: Person | None) -> None:
    during = to_interval(row.during)
    row.ended_at, row.ended_by = clock.now(), person
    if during.start < since:
        row.during = to_range(Interval(during.start, since))
    else:
        row.voided_at = clock.now()
    row.save(update_fields=["during", "voided_at", "ended_at", "ended_by"])


def _lock_pool(pool_id: int) -> tuple[Pool, set[int]]:
    """The pool and its GPU models, locked; models that joined between looking and locking are a ``Changed``."""
    models = _models_of(pool_id)
    pool: Pool = lock({Pool: [pool_id], GpuModel: models})[Pool][pool_id]
    if not _models_of(pool_id) <= models:
        raise Changed
    return pool, models


def _models_of(pool_id: int) -> set[int]:
    facts = CapacityFact.objects.filter(pool=pool_id).values_list("gpu_model_id", flat=True)
    claims = live_claims().filter(pool=pool_id, gpu_model__isnull=False).values_list("gpu_model_id", flat=True)
    return {pk for pk in (*facts, *claims) if pk is not None}
