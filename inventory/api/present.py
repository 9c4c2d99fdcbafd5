"""Rows of this room as plain data."""

from collections.abc import Sequence
from typing import Any

from inventory.models import Device, EnrolmentToken, Node, Pool
from inventory.prices import Price
from inventory.selectors import GpuCount, gpu_counts, pool_gpus, prices_now
from kernel import clock

Plain = dict[str, Any]


def nodes(rows: Sequence[Node]) -> list[Plain]:
    """Nodes with pool and model loaded; counts and prices come in three queries for all of them."""
    counts, prices = gpu_counts(rows), prices_now(row.pk for row in rows)
    return [_node(row, counts[row.pk], prices[row.pk]) for row in rows]


def node_detail(row: Node) -> Plain:
    """One node with its devices and hardware."""
    hardware = {
        "cpus": row.cpus,
        "memory_bytes": row.memory_bytes,
        "disk_bytes": row.disk_bytes,
        "network_bps": row.network_bps,
        "interconnect": row.interconnect,
        "agent_version": row.agent_version,
        "registered_at": row.registered_at,
    }
    devices = row.devices.select_related("gpu_model").order_by("index", "pk")
    return {**nodes([row])[0], **hardware, "devices": [_device(device) for device in devices]}


def pools(rows: Sequence[Any]) -> list[Plain]:
    """Pools as ``selectors.pools`` annotates them."""
    gpus = pool_gpus(clock.now())
    return [_pool(row, gpus.get(row.pk, 0)) for row in rows]


def token_state(row: EnrolmentToken) -> str:
    if row.used_at is not None:
        return "used"
    if row.revoked_at is not None:
        return "revoked"
    return "open" if row.expires_at > clock.now() else "expired"


def token(row: EnrolmentToken) -> Plain:
    return {
        "id": row.pk,
        "node_name": row.node_name,
        "pool": row.pool.name,
        "source": row.source,
        "state": token_state(row),
        "issued_by": str(row.issued_by),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
    }


def _node(row: Node, count: GpuCount, price: Price | None) -> Plain:
    return {
        "id": row.pk,
        "name": row.name,
        "state": row.state,
        "gpu_model": row.gpu_model.name if row.gpu_model else None,
        "gpus": count.accepted if row.backs_guarantees else count.reported,
        "gpus_accepted": count.accepted,
        "gpus_reported": count.reported,
        "is_simulated": row.is_simulated,
        "pool": row.pool.name,
        "source": row.source,
        "price": {"per_gpu_hour": str(price.per_gpu_hour), "currency": price.currency} if price else None,
        "last_seen_at": row.last_seen_at,
    }


def _device(row: Device) -> Plain:
    return {
        "uuid": row.uuid,
        "index": row.index,
        "gpu_model": row.gpu_model.name,
        "memory_bytes": row.memory_bytes,
        "is_simulated": row.is_simulated,
        "state": row.state,
        "last_seen_at": row.last_seen_at,
    }


def _pool(row: Any, gpus: int) -> Plain:
    pool: Pool = row
    return {
        "id": pool.pk,
        "name": pool.name,
        "title": pool.title,
        "kind": pool.kind,
        "purpose": pool.purpose,
        "launcher": pool.launcher,
        "grace_s": pool.grace_s,
        "max_runtime_bound_s": pool.max_runtime_bound_s,
        "lost_after_s": pool.lost_after_s,
        "nodes": row.nodes_total,
        "nodes_up": row.nodes_up,
        "gpus": gpus,
    }
