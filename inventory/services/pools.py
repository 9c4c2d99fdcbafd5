"""Pools and the nodes in them; what the catalogue says of a GPU model."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import CapacityFact, GpuModel, Node, Pool, PoolKind
from kernel import audit, clock, outbox
from kernel.errors import Invalid
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.unit import lock, unit_of_work

SLUG_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """A pool's policy. Times in seconds; ``max_runtime_bound_s`` None: no bound."""

    name: str
    title: str
    kind: str = PoolKind.SHARED
    purpose: str = ""
    launcher: str = "agent"
    grace_s: int = 300
    max_runtime_bound_s: int | None = None
    lost_after_s: int = 60


EDITABLE_POOL = frozenset({"title", "purpose", "grace_s", "max_runtime_bound_s", "lost_after_s"})
"""A pool's kind is not edited: dedicating one is an act of ``quotas``, which knows what is promised."""
EDITABLE_MODEL = frozenset({"title", "memory_bytes", "interconnect", "suitability"})
MOST_SUITABILITY = 100


def pool_create(*, actor: Person, spec: PoolSpec) -> Pool:
    """A new pool. Admins only. Raises ``Forbidden``, ``Invalid``."""
    require_role(actor, Role.ADMIN)
    _check_pool(asdict(spec))
    try:
        with unit_of_work(), transaction.atomic():
            pool = Pool.objects.create(**asdict(spec))
            audit.record("pool.created", actor=actor, subject=pool, after=asdict(spec))
    except IntegrityError as error:
        raise Invalid({"name": _("There is a pool “%(value)s” already.") % {"value": spec.name}}) from error
    return pool


def pool_edit(*, actor: Person, pool_id: int, changes: Mapping[str, Any]) -> Pool:
    """Change a pool's policy; running jobs keep what they were started with. Admins only."""
    require_role(actor, Role.ADMIN)
    _refuse_unknown(changes, EDITABLE_POOL)
    _check_pool(changes)
    with unit_of_work():
        pool: Pool = lock({Pool: [pool_id]})[Pool][pool_id]
        _apply("pool.changed", actor, pool, changes)
    return pool


def gpu_model_edit(*, actor: Person, gpu_model_id: int, changes: Mapping[str, Any]) -> GpuModel:
    """Correct how a catalogue entry is called and what it says; its name stays. Admins only."""
    require_role(actor, Role.ADMIN)
    _refuse_unknown(changes, EDITABLE_MODEL)
    if not str(changes.get("title", "x")).strip():
        raise Invalid({"title": _("A title is needed.")})
    if not _is_count(changes.get("memory_bytes", 0), highest=2**63):
        raise Invalid({"memory_bytes": _("A whole number of bytes, 0 or more.")})
    if "suitability" in changes:
        _check_suitability(changes["suitability"])
    with unit_of_work():
        model: GpuModel = lock({GpuModel: [gpu_model_id]})[GpuModel][gpu_model_id]
        _apply("gpu_model.changed", actor, model, changes)
    return model


def move_capacity(*, actor: Person, node: Node, pool: Pool) -> None:
    """Put a node into another pool, its capacity along, dated.

    Whether it may move is for ``quotas.node_move`` to say, which knows what is promised and holds the locks of GPU
    models and node.
    """
    now, before = clock.now(), node.pool
    node.pool = pool
    node.save(update_fields=["pool"])
    for fact in CapacityFact.objects.filter(node=node, during__overlap=to_range(Interval(now))):
        during = to_interval(fact.during)
        if during.start < now:
            fact.during = to_range(Interval(during.start, now))
            fact.save(update_fields=["during"])
            rest = to_range(Interval(now, during.end))
            fact = CapacityFact(node=node, gpu_model_id=fact.gpu_model_id, gpus=fact.gpus, during=rest)
        fact.pool, fact.accepted_by = pool, actor
        fact.save()
    audit.record("node.moved", actor=actor, subject=node, before={"pool": before.name}, after={"pool": pool.name})
    outbox.emit("capacity.changed", subject=node, data={"pool": pool.pk, "from_pool": before.pk})


def _check_pool(values: Mapping[str, Any]) -> None:
    errors: dict[str, str] = {}
    name = values.get("name", "x")
    if not name or len(name) > 60 or not SLUG_CHARACTERS.issuperset(name):
        errors["name"] = _("“%(value)s”: 1 to 60 small letters, digits or dashes.") % {"value": name[:60]}
    if not str(values.get("title", "x")).strip():
        errors["title"] = _("A title is needed.")
    if values.get("kind", PoolKind.SHARED) not in PoolKind.values:
        errors["kind"] = _("One of: %(allowed)s.") % {"allowed": ", ".join(PoolKind.values)}
    for field, lowest in (("grace_s", 0), ("lost_after_s", 10)):
        if not _is_count(values.get(field, lowest), lowest):
            errors[field] = _("A whole number of seconds, %(lowest)s or more.") % {"lowest": lowest}
    bound = values.get("max_runtime_bound_s")
    if bound is not None and not _is_count(bound, 1):
        errors["max_runtime_bound_s"] = _("A whole number of seconds, 1 or more; empty: no bound.")
    if errors:
        raise Invalid(errors)


def _is_count(value: object, lowest: int = 0, highest: int = 2**31) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value < highest


def _check_suitability(value: object) -> None:
    """At most three decimals, as the column keeps them: what is shown is what was stated."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    number = Decimal(value) if is_number else Decimal("NaN")  # type: ignore[arg-type]
    if not number.is_finite() or not 0 <= number <= MOST_SUITABILITY or number != round(number, 3):
        text = _("“%(value)s” is no number from 0 to %(most)s with at most three decimals.")
        raise Invalid({"suitability": text % {"value": str(value)[:60], "most": MOST_SUITABILITY}})


def _refuse_unknown(changes: Mapping[str, Any], allowed: frozenset[str]) -> None:
    unknown = sorted(changes.keys() - allowed)
    if unknown:
        text = _("This cannot be changed here.")
        raise Invalid(dict.fromkeys(unknown, text))


def _apply(action: str, actor: Person, row: Pool | GpuModel, changes: Mapping[str, Any]) -> None:
    before = {name: getattr(row, name) for name in changes}
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(update_fields=list(changes))
    if before != dict(changes):
        audit.record(action, actor=actor, subject=row, before=before, after=changes)
