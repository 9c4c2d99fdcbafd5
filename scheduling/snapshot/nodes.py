"""Nodes with their healthy devices, and who may use them."""

from collections import defaultdict
from datetime import datetime

from inventory.models import Device as DeviceRow
from inventory.models import DeviceState, PoolKind
from inventory.models import Node as NodeRow
from inventory.states import NodeState as State
from quotas.selectors import pools_open_at
from scheduling.engine.model import Device, Node, NodeState
from scheduling.models import DeviceAllocation
from scheduling.states import AttemptState

_STATES = {
    State.UP: NodeState.UP,
    State.DRAINING: NodeState.DRAINING,
    State.SUSPECT: NodeState.SUSPECT,
    State.DOWN: NodeState.DOWN,
    State.MAINTENANCE: NodeState.DOWN,
}
_COLUMNS = ("pk", "name", "state", "cpus", "memory_bytes", "interconnect", "source")


def load_nodes(at: datetime, names: dict[int, str]) -> tuple[Node, ...]:
    """Every node that is not removed, by id. Six statements at most."""
    open_to = pools_open_at(at)
    devices, memory = _devices(names)
    rows = NodeRow.objects.exclude(state=State.REMOVED).order_by("pk")
    return tuple(
        Node(
            id=pk,
            name=name,
            devices=tuple(devices.get(pk, ())),
            state=_STATES[State(state)],
            cpus=cpus,
            memory_bytes=memory_bytes,
            gpu_memory_bytes=memory.get(pk, 0),
            interconnect=interconnect,
            pool=pool,
            source=source,
            holders=open_to.get(pool_id, frozenset()) if kind == PoolKind.DEDICATED else None,
            max_runtime_bound_s=bound,
        )
        for pk, name, state, cpus, memory_bytes, interconnect, source, pool_id, pool, kind, bound in rows.values_list(
            *_COLUMNS, "pool_id", "pool__name", "pool__kind", "pool__max_runtime_bound_s"
        )
    )


def _devices(names: dict[int, str]) -> tuple[dict[int, list[Device]], dict[int, int]]:
    """By node: its healthy devices, and the memory of the smallest. A device of a member that was given up is not
    there: it stays taken until its node confirms, and no live job stands for it."""
    devices: dict[int, list[Device]] = defaultdict(list)
    memory: dict[int, int] = {}
    taken = set(_given_up())
    rows = DeviceRow.objects.filter(state=DeviceState.OK).order_by("node_id", "index", "pk")
    for pk, node, model, size in rows.values_list("pk", "node_id", "gpu_model_id", "memory_bytes"):
        if pk not in taken:
            devices[node].append(Device(pk, names[model]))
            memory[node] = min(size, memory.get(node, size))
    return devices, memory


def _given_up() -> list[int]:
    held = DeviceAllocation.objects.filter(released_at__isnull=True, member__state=AttemptState.ENDED)
    return list(held.values_list("device_id", flat=True))
