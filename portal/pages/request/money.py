"""What the time asked for would cost at today's prices. A price that is not known is no price of nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from inventory.models import GpuModel
from kernel.intervals import Interval
from portal.pages.price import model_price
from quotas.raises import Part

MONTH = timedelta(days=30)
"""Of what has no end the hours and the cost of so long are shown."""
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
    """At the mean price of the model's GPUs."""
    hours, is_open, price = gpu_hours(added, during), during.end is None, model_price(model, now)
    if price.per_gpu_hour is None:
        return Spending(hours, is_open, nodes=price.nodes, unpriced=price.unpriced)
    amount = price.per_gpu_hour * Decimal(round(hours * 1000)) / 1000
    return Spending(hours, is_open, amount, price.currency, price.nodes)
