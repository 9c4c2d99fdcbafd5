"""Promised against used, per GPU model, for those who look at the whole organisation."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from inventory.models import Device, DeviceState, GpuModel
from inventory.selectors import capacity_at
from inventory.states import NodeState
from kernel import clock
from quotas.selectors import promised_at
from scheduling.engine import MILLI
from scheduling.selectors import used_now


@dataclass(frozen=True, slots=True)
class Supply:
    """Whole GPUs of one model. ``down``: on nodes that are down, or lost; an outage is not less capacity (INV1)."""

    gpu_model: str
    used: float
    promised: int
    usable: int
    reserve: int
    capacity: int
    down: int
    simulated: int

    @classmethod
    def total(cls, rows: Iterable["Supply"]) -> "Supply":
        """All models together."""
        found = list(rows)
        return cls(
            "",
            sum(row.used for row in found),
            sum(row.promised for row in found),
            sum(row.usable for row in found),
            sum(row.reserve for row in found),
            sum(row.capacity for row in found),
            sum(row.down for row in found),
            sum(row.simulated for row in found),
        )

    @property
    def used_pct(self) -> float | None:
        """Of what is promised; None where nothing is."""
        return 100 * self.used / self.promised if self.promised else None


def supply_now() -> list[Supply]:
    """Every model that has capacity or devices, by name. Seven statements."""
    now = clock.now()
    capacities, promised = capacity_at(now), promised_at(now)
    used: dict[int, int] = {}
    for (_project, model_id), use in used_now().items():
        used[model_id] = used.get(model_id, 0) + use.milli_gpus
    down = Q(state=DeviceState.LOST) | Q(node__state=NodeState.DOWN)
    live = Device.objects.exclude(state=DeviceState.RETIRED).exclude(node__state=NodeState.REMOVED)
    counts = {
        model_id: (dead, simulated)
        for model_id, dead, simulated in live.values("gpu_model")
        .annotate(dead=Count("pk", filter=down), simulated=Count("pk", filter=Q(is_simulated=True)))
        .values_list("gpu_model", "dead", "simulated")
    }
    rows = []
    for model in GpuModel.objects.order_by("name"):
        capacity = capacities[model.pk]
        if not capacity.capacity and model.pk not in counts:
            continue
        dead, simulated = counts.get(model.pk, (0, 0))
        rows.append(
            Supply(
                model.name,
                used.get(model.pk, 0) / MILLI,
                promised.get(model.pk, 0),
                capacity.usable,
                capacity.reserve,
                capacity.capacity,
                dead,
                simulated,
            )
        )
    return rows
