"""Rows of this room as plain data."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from quotas.models import Claim, PoolAccess
from quotas.selectors import ModelLine, with_use

Plain = dict[str, Any]


def gpu_model(line: ModelLine) -> Plain:
    return {
        "id": line.model.pk,
        "name": line.model.name,
        "title": line.model.title,
        "memory_bytes": line.model.memory_bytes,
        "interconnect": line.model.interconnect,
        "suitability": float(line.model.suitability),
        "capacity": line.capacity.capacity,
        "reserve": line.capacity.reserve,
        "usable": line.capacity.usable,
        "promised": line.promised,
    }


def quotas(rows: Sequence[Claim], at: datetime) -> list[Plain]:
    """Claims of projects with what the projects use at ``at``."""
    return [
        {**_terms(row.claim), "project": row.claim.project_id, "kind": row.claim.kind, "used": _whole(row.used)}
        for row in with_use(rows, at)
    ]


def area_quota(row: Claim) -> Plain:
    return {**_terms(row), "area": row.area.name if row.area else None}


def access(row: PoolAccess) -> Plain:
    return {
        "id": row.pk,
        "pool": row.pool_id,
        "project": row.project_id,
        "area": row.area_id,
        "effective_from": row.effective_from,
        "effective_to": row.effective_to,
        "reason": row.reason,
    }


def _terms(row: Claim) -> Plain:
    return {
        "id": row.pk,
        "resource": row.resource,
        "gpu_model": row.gpu_model.name if row.gpu_model else None,
        "guaranteed": row.guaranteed,
        "limit": row.limit,
        "effective_from": row.effective_from,
        "effective_to": row.effective_to,
        "source": row.source,
        "reason": row.reason,
    }


def _whole(amount: float | None) -> float | None:
    """Whole numbers stay whole: ``4``, not ``4.0``."""
    return amount if amount is None or amount != int(amount) else int(amount)
