"""By what a request is judged, and what lists show of it."""

from datetime import datetime
from typing import Any

from approvals.rules import Measures
from inventory.models import GpuModel
from kernel.intervals import Interval
from quotas.ledger import steps
from quotas.requests.asking import Asked, Holdings, least_guaranteed
from quotas.selectors import model_facts

DAY_S = 86_400


def measures_of(asked: Asked, holdings: Holdings, model: GpuModel, tier: str | None, now: datetime) -> Measures:
    """How much more it would guarantee at the instant at which that is most, beside what people granted before.

    Nothing is known of one whose window is over: that fits no bound.
    """
    window = asked.window(now)
    if window is None:
        return Measures(tier=tier)
    parts = holdings.decided_through(window) if asked.is_temporary else holdings.base_through(window)
    more = asked.totals.guaranteed - least_guaranteed(parts)
    return Measures(more, share_of(more, model, window), days_of(window), tier)


def share_of(gpus: int, model: GpuModel, window: Interval) -> float | None:
    """These GPUs in per cent of what is usable of the model where that is least; None where nothing is."""
    if gpus <= 0:
        return 0.0
    facts = model_facts([model.pk], window)[model.pk]
    usable = min(step.usable for step in steps(facts, window))
    return None if usable <= 0 else 100 * gpus / usable


def days_of(window: Interval) -> int | None:
    """Its length in days, rounded up; None without an end."""
    if window.end is None:
        return None
    return -(-int(window.seconds(window.end)) // DAY_S)


def summary_of(asked: Asked, holdings: Holdings, model: GpuModel, now: datetime) -> dict[str, Any]:
    """What lists show of it later, whatever has become of the ledger since: before and asked, when it begins."""
    window = asked.window(now)
    first = holdings.through(window)[0] if window else None
    return {
        "gpu_model": model.title,
        "guaranteed": asked.totals.guaranteed,
        "limit": asked.totals.limit,
        "held_guaranteed": first.guaranteed if first else 0,
        "held_limit": first.shown_limit if first else 0,
        "starts_at": asked.starts_at.isoformat() if asked.starts_at else None,
        "ends_at": asked.ends_at.isoformat() if asked.ends_at else None,
    }
