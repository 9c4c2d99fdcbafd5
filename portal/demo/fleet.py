"""The sixty simulated nodes of the demo organisation, and what the fleet simulator needs to play them.

Their GPU models are others than those of the agents on this machine: a job for one of those models is a real
process, a job for one of these never is, and neither can land on the other's nodes.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db.backends.postgresql.psycopg_any import NumericRange
from msgspec import json

from accounts.models import Person
from inventory.models import Node, NodePrice, Pool, PoolKind, Source
from inventory.prices import MINUTES_OF_DAY
from inventory.services import (
    EnrolmentSpec,
    PoolSpec,
    enrolment_token_issue,
    open_enrolment_tokens_revoke,
    pool_create,
)
from kernel.intervals import Interval
from kernel.ranges import to_range
from kernel.unit import unit_of_work

GIB = 1024**3
GPUS_PER_NODE = 8
LOST_AFTER_S = 240
"""Played by one process that may be restarted; and a node speaks a dozen times in it, so sixty cost little."""
LAUNCHER = "patient"
_HOURS = 3600


@dataclass(frozen=True, slots=True)
class Model:
    """``reported``: the name as a driver would say it. Price in USD per GPU-hour of an own machine."""

    reported: str
    memory_bytes: int
    per_gpu_hour: Decimal
    nodes: int
    interconnect: str


MODELS = {
    "h800": Model("NVIDIA H800 80GB HBM3", 80 * GIB, Decimal("2.10"), 20, "NVLink"),
    "a800": Model("NVIDIA A800 80GB", 80 * GIB, Decimal("1.20"), 18, "NVLink"),
    "h20": Model("NVIDIA H20 96GB HBM3", 96 * GIB, Decimal("1.45"), 12, "NVLink"),
    "l40s": Model("NVIDIA L40S 48GB", 48 * GIB, Decimal("0.80"), 10, "PCIe"),
}
POOLS = (
    PoolSpec("research", "Research", purpose="Training and evaluation", launcher=LAUNCHER, lost_after_s=LOST_AFTER_S),
    PoolSpec(
        "exploration",
        "Exploration",
        purpose="Small first experiments",
        launcher=LAUNCHER,
        max_runtime_bound_s=8 * _HOURS,
        lost_after_s=LOST_AFTER_S,
    ),
    PoolSpec(
        "inference",
        "Inference",
        kind=PoolKind.DEDICATED,
        purpose="Services in production",
        launcher=LAUNCHER,
        lost_after_s=LOST_AFTER_S,
    ),
)
_POOL_OF = {"l40s-001": "inference", "l40s-002": "inference", **{f"l40s-00{n}": "exploration" for n in range(3, 8)}}
_SOURCE_OF = {
    "a800-016": Source.RENTED,
    "a800-017": Source.RENTED,
    "a800-018": Source.RENTED,
    "h20-012": Source.HYBRID,
    "l40s-009": Source.SPOT,
    "l40s-010": Source.SPOT,
}
_FACTOR = {Source.RENTED: Decimal("1.6"), Source.SPOT: Decimal("0.5"), Source.HYBRID: Decimal("1.2")}


@dataclass(frozen=True, slots=True)
class FleetNode:
    name: str
    model: str
    pool: str
    source: Source

    @property
    def per_gpu_hour(self) -> Decimal:
        """Rented machines cost more than own ones, spot less."""
        return MODELS[self.model].per_gpu_hour * _FACTOR.get(self.source, Decimal(1))


def fleet_nodes() -> list[FleetNode]:
    """All of them, by model and number."""
    names = [(f"{model}-{n:03}", model) for model, facts in MODELS.items() for n in range(1, facts.nodes + 1)]
    return [
        FleetNode(name, model, _POOL_OF.get(name, "research"), _SOURCE_OF.get(name, Source.OWNED))
        for name, model in names
    ]


def seed_pools(admin: Person) -> None:
    """The pools that are missing."""
    known = set(Pool.objects.values_list("name", flat=True))
    for spec in POOLS:
        if spec.name not in known:
            pool_create(actor=admin, spec=spec)


def write_spec(admin: Person, path: Path, home: Path | None = None) -> None:
    """Issue a one-time token for each node that has yet to enrol, in one go, and write the simulator's file.

    ``home`` is the simulator's. A node that it does not keep there gets a new token each time: it may have used the
    last one, and been interrupted before it kept the answer. Without a home the nodes on record are those that
    enrolled, and a file that is there stays as it is.
    """
    known = set(Node.objects.values_list("name", flat=True)) if home is None else _kept(home)
    if path.exists() and (home is None or known >= {node.name for node in fleet_nodes()}):
        return
    pools = dict(Pool.objects.values_list("name", "pk"))
    with unit_of_work():
        rows = list(_rows(admin, pools, known))
        _write_private(path, json.encode({"nodes": rows}))


def _kept(home: Path) -> set[str]:
    """The nodes that the simulator plays already."""
    return {path.parent.name for path in home.glob("nodes/*/node.json")}


def _rows(admin: Person, pools: dict[str, int], known: set[str]) -> Iterator[dict[str, Any]]:
    for node in fleet_nodes():
        facts, token = MODELS[node.model], ""
        if node.name not in known:
            open_enrolment_tokens_revoke(actor=admin, node_name=node.name)
            spec = EnrolmentSpec(node.name, pools[node.pool], node.source)
            token = enrolment_token_issue(actor=admin, spec=spec)[1]
        yield {
            "name": node.name,
            "gpu_model": facts.reported,
            "gpus": GPUS_PER_NODE,
            "cpus": 128,
            "memory_bytes": 1024 * GIB,
            "disk_bytes": 15360 * GIB,
            "interconnect": facts.interconnect,
            "network_bps": 400_000_000_000,
            "token": token,
        }


def _write_private(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.part")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    fresh.replace(path)


def seed_prices(since: datetime) -> None:
    """What each enrolled node costs, for the half year of records too; a node that has a price keeps it."""
    prices = {node.name: node.per_gpu_hour for node in fleet_nodes()}
    bare = Node.objects.filter(name__in=prices, prices__isnull=True)
    NodePrice.objects.bulk_create(
        NodePrice(
            node=node,
            during=to_range(Interval(since)),
            minutes=NumericRange(0, MINUTES_OF_DAY),
            per_gpu_hour=prices[node.name],
        )
        for node in bare
    )


def missing_nodes() -> int:
    """How many have yet to enrol."""
    return len(fleet_nodes()) - Node.objects.filter(name__in=[node.name for node in fleet_nodes()]).count()
