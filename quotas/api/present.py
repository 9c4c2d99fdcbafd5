"""Rows of this room as plain data."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from quotas import usage
from quotas.models import Claim
from quotas.selectors import ModelLine

Plain = dict[str, Any]


def gpu_model(line: ModelLine) -> Plain:
    return {
        "id": line.model.pk,
        "name": line.model.name,
        "title": line.model.title,
        "memory_bytes": line.model.memory_bytes,
        "interconnect": line.model.interconnect,
        "capacity": line.capacity.capacity,
        "reserve": line.capacity.reserve,
        "usable": line.capacity.usable,
        "promised": line.promised,
    }


def quotas(rows: Sequence[Claim], at: datetime) -> list[Plain]:
    """Claims of projects with what the projects use at ``at``."""
    used = usage.used_at(at, {row.project_id for row in rows if row.project_id})
    return [{**_terms(row), "project": row.project_id, "kind": row.kind, "used": _used(used, row)} for row in rows]


def area_quota(row: Claim) -> Plain:
    return {**_terms(row), "area": row.area.name if row.area else None}


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


def _used(used: usage.Usage | None, row: Claim) -> float | None:
    """Whole numbers stay whole: ``4``, not ``4.0``."""
    if used is None:
        return None
    amount = used.get((row.project_id or 0, row.resource, row.gpu_model_id), 0)
    return int(amount) if amount == int(amount) else float(amount)
