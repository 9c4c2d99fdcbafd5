"""By what a request is judged, and what lists show of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from approvals.rules import Measures
from inventory.models import GpuModel
from kernel.calendar import organisation_zone
from kernel.intervals import Interval
from quotas.ledger import steps
from quotas.requests.asking import APART, Asked, Holdings, least_guaranteed
from quotas.selectors import model_facts

DAY_S = 86_400


def measures_of(asked: Asked, holdings: Holdings, model: GpuModel, tier: str | None, now: datetime) -> Measures:
    """How much more it would guarantee at the instant at which that is most, beside what people granted before, and
    for how long, with what the portal granted by itself near it.

    Nothing is known of one whose window is over: that fits no bound.
    """
    window = asked.window(now)
    if window is None:
        return Measures(tier=tier)
    parts = holdings.decided_through(window) if asked.is_temporary else holdings.base_through(window)
    more = asked.totals.guaranteed - least_guaranteed(parts)
    return Measures(more, share_of(more, model, window), days_of(_with_automatic(window, holdings)), tier)


def share_of(gpus: int, model: GpuModel, window: Interval) -> float | None:
    """These GPUs in per cent of what is usable of the model where that is least; None where nothing is."""
    if gpus <= 0:
        return 0.0
    facts = model_facts([model.pk], window)[model.pk]
    usable = min(step.usable for step in steps(facts, window))
    return None if usable <= 0 else 100 * gpus / usable


def days_of(windows: Sequence[Interval]) -> int | None:
    """Days in one of them or another, rounded up; None where one has no end. By the organisation's clocks: a day on
    which they change is one day, too."""
    seconds, reached = 0.0, datetime.min  # noqa: DTZ901 - a clock on the wall
    for window in sorted(windows, key=lambda window: window.start):
        if window.end is None:
            return None
        start, end = _on_the_wall(window.start), _on_the_wall(window.end)
        seconds += max(0.0, (end - max(start, reached)).total_seconds())
        reached = max(end, reached)
    return -(-int(seconds) // DAY_S)


def _on_the_wall(at: datetime) -> datetime:
    return at.astimezone(organisation_zone()).replace(tzinfo=None)


def _with_automatic(window: Interval, holdings: Holdings) -> list[Interval]:
    """With the raises near it that the portal granted by itself: otherwise one short raise after another would each
    pass for short."""
    if window.end is None:
        return [window]
    return [window, *holdings.automatic(Interval(window.start - APART, window.end + APART))]


def summary_of(asked: Asked, holdings: Holdings, model: GpuModel, now: datetime) -> dict[str, Any]:
    """What lists show of it later, whatever has become of the ledger since: before and asked, when it begins."""
    window = asked.window(now)
    first = holdings.replaced_through(asked, window)[0] if window else None
    return {
        "gpu_model": model.title,
        "guaranteed": asked.totals.guaranteed,
        "limit": asked.totals.limit,
        "held_guaranteed": first.guaranteed if first else 0,
        "held_limit": first.shown_limit if first else 0,
        "starts_at": asked.starts_at.isoformat() if asked.starts_at else None,
        "ends_at": asked.ends_at.isoformat() if asked.ends_at else None,
    }
