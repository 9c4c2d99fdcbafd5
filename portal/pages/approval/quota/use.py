"""What a project made of its guarantee lately, and what more of it would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.cache import cache

from inventory.models import GpuModel
from kernel.intervals import Interval
from monitoring.engine.series import Window
from portal.pages.approval.evidence.outlook import Outlook
from portal.pages.approval.quota.facts import USE_BACK, Held
from portal.pages.price import ModelPrice, model_price
from portal.pages.project.by_model import days_of
from portal.pages.project.use import held_by_model
from scheduling.selectors.pieces import pieces_between
from scheduling.selectors.unseen import unseen_between

STEP_S = 6 * 3600
KEPT_S = 300
HOUR_S = 3600
MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Use:
    """GPUs held in per cent of the guarantee by steps of six hours; None where nothing was guaranteed, or where
    nobody can tell. ``busy_pct``: how busy the GPUs were while they were held; None where nothing was measured."""

    values: tuple[float | None, ...]
    busy_pct: float | None

    @property
    def mean_pct(self) -> float | None:
        known = [value for value in self.values if value is not None]
        return sum(known) / len(known) if known else None


def use_of(project_id: int, model: GpuModel, held: Sequence[Held], now: datetime) -> Use:
    """Of the last 14 days; kept for five minutes. Four statements."""
    key = f"decision-use:{project_id}:{model.pk}"
    kept = cache.get(key)
    if isinstance(kept, list):
        return Use(tuple(kept[0]), kept[1])
    window = Window.covering(now - USE_BACK, now, STEP_S)
    pieces = pieces_between(window.start, now, [project_id])
    used = held_by_model(pieces, window, now).get(model.pk, [0.0] * window.count)
    unseen = unseen_between(project_id, window.start, now)
    busy = days_of(project_id).get(model.pk)
    values = tuple(share_of(at, gpus, held, unseen) for at, gpus in zip(window.instants, used, strict=True) if at < now)
    found = Use(values, busy.mean_pct if busy else None)
    cache.set(key, [list(found.values), found.busy_pct], KEPT_S)
    return found


def share_of(at: datetime, gpus: float, held: Sequence[Held], unseen: Sequence[Interval]) -> float | None:
    """GPUs held in a step in per cent of what was guaranteed at its start."""
    step = Interval(at, at + timedelta(seconds=STEP_S))
    guaranteed = sum(row.guaranteed for row in held if row.during.contains(at))
    if not guaranteed or any(span.overlaps(step) for span in unseen):
        return None
    return min(100.0, 100 * gpus / guaranteed)


@dataclass(frozen=True, slots=True)
class Cost:
    """About so much in one currency; ``per_month`` for what has no end."""

    amount: Decimal
    currency: str
    per_month: bool


def cost_of(seen: Outlook, model: GpuModel, now: datetime) -> Cost | None:
    """What is asked on top, at the mean price of the model's nodes over a day. None where any of them has no price, or
    they have several currencies: then nothing is said rather than something wrong."""
    gpu_hours = gpu_hours_of(seen)
    price = model_price(model, now) if gpu_hours > 0 else ModelPrice()
    if price.per_gpu_hour is None:
        return None
    return Cost(price.per_gpu_hour * Decimal(gpu_hours), price.currency, seen.during.end is None)


def gpu_hours_of(seen: Outlook) -> float:
    """What is asked on top through its time; a month of what has no end, as it stands in the long run."""
    if seen.during.end is None:
        return seen.steps[-1].asked * MONTH.total_seconds() / HOUR_S
    hours = 0.0
    ends = [*(step.at for step in seen.steps[1:]), seen.during.end]
    for step, end in zip(seen.steps, ends, strict=True):
        length = (min(end, seen.during.end) - max(step.at, seen.during.start)).total_seconds()
        hours += step.asked * max(0.0, length) / HOUR_S
    return hours
