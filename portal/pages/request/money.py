"""What the time asked for would cost at today's prices. A price that is not known is no price of nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from inventory.models import Device, DeviceState, GpuModel
from inventory.prices import PriceSegment
from inventory.selectors import price_cuts
from inventory.states import NodeState
from kernel.intervals import Interval
from quotas.raises import Part

MONTH = timedelta(days=30)
"""Of what has no end the hours and the cost of so long are shown."""
DAY = timedelta(days=1)
HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Spending:
    """``amount`` None: not known, because of ``unpriced`` of ``nodes`` nodes, or of several currencies."""

    hours: float
    is_per_month: bool
    amount: Decimal | None = None
    currency: str = ""
    nodes: int = 0
    unpriced: int = 0


def gpu_hours(added: Sequence[Part], during: Interval) -> float:
    """GPU-hours of what is asked on top, of the first month where there is no end."""
    until = during.end or during.start + MONTH
    spans = (part.during.intersection(Interval(during.start, until)) for part in added)
    pairs = zip(spans, added, strict=True)
    return sum(part.guaranteed * span.seconds(until) for span, part in pairs if span is not None) / HOUR_S


def spending(model: GpuModel, added: Sequence[Part], during: Interval, now: datetime) -> Spending:
    """At the mean price of the model's GPUs over the day to come. Two statements."""
    hours, is_open = gpu_hours(added, during), during.end is None
    gpus = _gpus_by_node(model)
    cuts = price_cuts(gpus, Interval(now, now + DAY)) if gpus else {}
    unpriced = sum(any(cut.price is None for cut in found) or not found for found in cuts.values())
    currencies = {cut.price.currency for found in cuts.values() for cut in found if cut.price}
    if not gpus or unpriced or len(currencies) != 1:
        return Spending(hours, is_open, nodes=len(gpus), unpriced=unpriced)
    mean = mean_price(gpus, cuts)
    return Spending(hours, is_open, mean * Decimal(round(hours * 1000)) / 1000, currencies.pop(), len(gpus))


def mean_price(gpus: Mapping[int, int], cuts: Mapping[int, Sequence[PriceSegment]]) -> Decimal:
    """Per GPU-hour, each node weighing as many GPUs as it has and each price as long as it holds."""
    total, weight = Decimal(0), Decimal(0)
    for node, found in cuts.items():
        for cut in found:
            if cut.price is not None and cut.during.end is not None:
                seconds = Decimal(round(cut.during.seconds(cut.during.end))) * gpus[node]
                total += cut.price.per_gpu_hour * seconds
                weight += seconds
    return total / weight if weight else Decimal(0)


def _gpus_by_node(model: GpuModel) -> dict[int, int]:
    """Real GPUs that are there: simulated ones cost nothing."""
    devices = Device.objects.filter(gpu_model=model, is_simulated=False).exclude(state=DeviceState.RETIRED)
    return dict(Counter(devices.exclude(node__state=NodeState.REMOVED).values_list("node_id", flat=True)))
