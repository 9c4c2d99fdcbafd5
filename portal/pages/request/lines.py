"""The GPU models that can be asked for, each with what the project has and what is not promised."""

from dataclasses import dataclass

from django.db.models import Count

from inventory.models import Device, DeviceState, GpuModel
from inventory.states import NodeState
from kernel import clock
from projects.models import Project
from projects.states import MeasurementState
from projects.suitability import Suitability, computed, measurements
from quotas.models import QuotaRequest, Resource
from quotas.selectors import ModelLine, Quota, model_lines, quotas_at
from quotas.states import OPEN

NODE_GPUS = 8
NOTHING = Quota(0, 0)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of the choice. ``open_id``: a request of the project for it that is not decided."""

    line: ModelLine
    has: Quota
    suitability: Suitability | None
    is_chosen: bool
    open_id: int | None
    step: int

    @property
    def free(self) -> int:
        return max(0, self.line.free)


def model_rows(project: Project, chosen: GpuModel | None) -> list[ModelRow]:
    """Every model that is there, or that the project has. Eight statements."""
    now = clock.now()
    lines = model_lines(now)
    quotas = quotas_at(now, [project.pk])
    models = {line.model.pk: line.model for line in lines}
    rated = computed(models, measurements(project).filter(state=MeasurementState.CONFIRMED))
    rows = QuotaRequest.objects.filter(project=project, state__in=OPEN)
    waiting = dict(rows.values_list("gpu_model_id", "pk"))
    steps = node_steps()
    found = []
    for line in lines:
        pk = line.model.pk
        has = quotas.get((project.pk, Resource.GPU, pk), NOTHING)
        if not line.capacity.capacity and has == NOTHING and line.model != chosen:
            continue
        suitability = rated[pk] if rated[pk].value or rated[pk].source == "excluded" else None
        step = steps.get(pk, 1)
        found.append(ModelRow(line, has, suitability, line.model == chosen, waiting.get(pk), step))
    return found


def node_steps() -> dict[int, int]:
    """By model: 8 where every node of it has eight GPUs. One statement."""
    devices = Device.objects.exclude(state=DeviceState.RETIRED).exclude(node__state=NodeState.REMOVED)
    counted = devices.values_list("gpu_model_id", "node_id").annotate(gpus=Count("pk")).order_by()
    sizes: dict[int, set[int]] = {}
    for model, _node, gpus in counted:
        sizes.setdefault(model, set()).add(gpus)
    return {model: NODE_GPUS for model, found in sizes.items() if found == {NODE_GPUS}}
