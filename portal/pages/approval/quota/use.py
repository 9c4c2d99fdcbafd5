"""What a project made of its guarantee lately, and what more of it would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.cache import cache

from inventory.models import Device, DeviceState, GpuModel
from inventory.selectors import price_cuts
from inventory.states import NodeState
from kernel.intervals import Interval
from monitoring.engine.series import Window
from portal.pages.approval.evidence.outlook import Outlook
from portal.pages.approval.quota.facts import USE_BACK, Held
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
    values = tuple(_share(at, gpus, held, unseen) for at, gpus in zip(window.instants, used, strict=True) if at < now)
    found = Use(values, busy.mean_pct if busy else None)
    cache.set(key, [list(found.values), found.busy_pct], KEPT_S)
    return found


def _share(at: datetime, gpus: float, held: Sequence[Held], unseen: Sequence[Interval]) -> float | None:
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
    they have several currencies: then nothing is said rather than something wrong. Two statements."""
    nodes = Device.objects.filter(gpu_model=model, state=DeviceState.OK).exclude(node__state=NodeState.REMOVED)
    counts: dict[int, int] = {}
    for node in nodes.values_list("node_id", flat=True):
        counts[node] = counts.get(node, 0) + 1
    gpu_hours = gpu_hours_of(seen)
    if not counts or gpu_hours <= 0:
        return None
    total, currencies = Decimal(0), set[str]()
    for node, cuts in price_cuts(counts, Interval(now, now + timedelta(days=1))).items():
        for cut in cuts:
            if cut.price is None:
                return None
            currencies.add(cut.price.currency)
            hours = Decimal(cut.during.seconds(now + timedelta(days=1))) / HOUR_S
            total += cut.price.per_gpu_hour * counts[node] * hours
    if len(currencies) != 1:
        return None
    mean = total / (24 * sum(counts.values()))
    return Cost(mean * Decimal(gpu_hours), currencies.pop(), seen.during.end is None)


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
