"""What a GPU-hour of a model costs today, for what is asked and for what is decided: one reckoning for both pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.cache import cache

from inventory.models import Device, DeviceState, GpuModel
from inventory.prices import PriceSegment
from inventory.selectors import price_cuts
from inventory.states import NodeState
from kernel.intervals import Interval

DAY = timedelta(days=1)
KEPT_S = 300


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """``per_gpu_hour`` None: not known, because of ``unpriced`` of ``nodes`` nodes, or of several currencies."""

    per_gpu_hour: Decimal | None = None
    currency: str = ""
    nodes: int = 0
    unpriced: int = 0


def model_price(model: GpuModel, now: datetime) -> ModelPrice:
    """The mean of the model's GPUs over the day to come; kept for five minutes. Two statements."""
    key = f"model-price:{model.pk}"
    kept = cache.get(key)
    if isinstance(kept, list):
        amount, currency, nodes, unpriced = kept
        return ModelPrice(None if amount is None else Decimal(amount), currency, nodes, unpriced)
    gpus = _gpus_by_node(model)
    found = _priced(gpus, price_cuts(gpus, Interval(now, now + DAY))) if gpus else ModelPrice()
    amount = None if found.per_gpu_hour is None else str(found.per_gpu_hour)
    cache.set(key, [amount, found.currency, found.nodes, found.unpriced], KEPT_S)
    return found


def mean_price(gpus: Mapping[int, int], cuts: Mapping[int, Sequence[PriceSegment]]) -> tuple[Decimal, str] | None:
    """Per GPU-hour, each node weighing as many GPUs as it has and each price as long as it holds. None where a part of
    it has no price, or another currency."""
    total, weight, currencies = Decimal(0), Decimal(0), set[str]()
    for node, found in cuts.items():
        for cut in found:
            if cut.price is None or cut.during.end is None:
                return None
            currencies.add(cut.price.currency)
            seconds = Decimal(round(cut.during.seconds(cut.during.end))) * gpus[node]
            total += cut.price.per_gpu_hour * seconds
            weight += seconds
    return (total / weight, currencies.pop()) if weight and len(currencies) == 1 else None


def _priced(gpus: Mapping[int, int], cuts: Mapping[int, Sequence[PriceSegment]]) -> ModelPrice:
    unpriced = sum(not found or any(cut.price is None for cut in found) for found in cuts.values())
    mean = None if unpriced else mean_price(gpus, cuts)
    return ModelPrice(None, "", len(gpus), unpriced) if mean is None else ModelPrice(*mean, len(gpus), unpriced)


def _gpus_by_node(model: GpuModel) -> dict[int, int]:
    """The real GPUs that are there; where there is none, the simulated ones, which every page marks."""
    devices = Device.objects.filter(gpu_model=model).exclude(state=DeviceState.RETIRED)
    rows = list(devices.exclude(node__state=NodeState.REMOVED).values_list("node_id", "is_simulated"))
    real = [node for node, is_simulated in rows if not is_simulated]
    return dict(Counter(real or [node for node, _is_simulated in rows]))
