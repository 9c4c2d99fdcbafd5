"""Where a job fits: whole or not at all, where least is left over, the node's name breaking ties."""

from collections.abc import Iterable, Mapping

from scheduling.engine.model import MILLI, Device, Node, Project, QueuedJob
from scheduling.engine.reasons import RoomCount

Placement = Mapping[int, Mapping[int, int]]
Shape = tuple[object, ...]


class _Spot:
    """What is still free on one node during this decision."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.free: dict[int, int] = {device.id: device.free_milli for device in node.devices}
        self.projects: dict[int, frozenset[int]] = {device.id: device.projects for device in node.devices}
        self.cpus = node.free_cpus
        self.memory_bytes = node.free_memory_bytes
        self.by_model: dict[str, list[Device]] = {}
        for device in sorted(node.devices, key=lambda d: d.id):
            self.by_model.setdefault(device.gpu_model, []).append(device)

    def whole(self, model: str) -> list[int]:
        """Devices of the model that are wholly free, by id."""
        return [device.id for device in self.by_model.get(model, ()) if self.free[device.id] == MILLI]

    def devices_for(self, job: QueuedJob, model: str) -> dict[int, int] | None:
        """The devices that the job would take here."""
        milli = job.milli_per_node
        if milli == 0:
            return {} if model in self.by_model else None
        if milli < MILLI:
            return self._part(job, model)
        whole = self.whole(model)
        needed = milli // MILLI
        return dict.fromkeys(whole[:needed], MILLI) if len(whole) >= needed else None

    def _part(self, job: QueuedJob, model: str) -> dict[int, int] | None:
        """A device that the job's own project shares already, the fullest first; else a whole free one."""
        milli, own = job.milli_per_node, frozenset({job.project})
        shared = [
            (self.free[device.id], device.id)
            for device in self.by_model.get(model, ())
            if milli <= self.free[device.id] < MILLI and self.projects[device.id] <= own
        ]
        if shared:
            return {min(shared)[1]: milli}
        whole = self.whole(model)
        return {whole[0]: milli} if whole else None

    def left_over(self, model: str, taken: Mapping[int, int]) -> tuple[int, int, str]:
        """For best fit: whole devices left, then milli left, then the name."""
        whole = sum(1 for device in self.whole(model) if device not in taken)
        milli = sum(self.free[device.id] for device in self.by_model[model]) - sum(taken.values())
        return whole, milli, self.node.name

    def take(self, job: QueuedJob, taken: Mapping[int, int]) -> None:
        for device, milli in taken.items():
            self.free[device] -= milli
            self.projects[device] |= {job.project}
        self.cpus -= job.cpus
        self.memory_bytes -= job.memory_bytes


class Room:
    """Free devices, CPU and memory of all nodes; shrinks as jobs are placed and never grows."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._spots = [_Spot(node) for node in sorted(nodes, key=lambda n: (n.name, n.id))]
        self._full: set[Shape] = set()

    def place(self, job: QueuedJob, project: Project, model: str) -> Placement | None:
        """Take the devices for the whole job, or none. ``nodes`` of the job are distinct."""
        shape = _shape(job, model)
        if shape in self._full:
            return None
        chosen = self._choose(job, project, model, job.avoid)
        if chosen is None and job.avoid:
            chosen = self._choose(job, project, model, frozenset())
        if chosen is None:
            self._full.add(shape)
            return None
        for spot, taken in chosen:
            spot.take(job, taken)
        return {spot.node.id: taken for spot, taken in chosen}

    def count(self, job: QueuedJob, project: Project, model: str) -> RoomCount:
        """For the reason: how much the nodes that could hold the job have, and have free."""
        spots = [spot for spot in self._spots if _suits(spot, job, project, model)]
        needed = max(1, -(-job.milli_per_node // MILLI))
        able = [spot for spot in spots if len(spot.by_model[model]) >= needed]
        starting = [spot for spot in able if spot.node.can_start]
        return RoomCount(
            nodes_able=len(able),
            nodes_open=len(starting),
            free_gpus=sum(len(spot.whole(model)) for spot in starting),
            most_free_on_a_node=max((len(spot.whole(model)) for spot in starting), default=0),
        )

    def _choose(
        self, job: QueuedJob, project: Project, model: str, avoid: frozenset[int]
    ) -> list[tuple[_Spot, dict[int, int]]] | None:
        fitting = []
        for spot in self._spots:
            if spot.node.id in avoid or not spot.node.can_start or not _suits(spot, job, project, model):
                continue
            taken = devices_on(spot, job, model)
            if taken is not None:
                fitting.append((spot.left_over(model, taken), spot.node.id, spot, taken))
        if len(fitting) < job.nodes:
            return None
        fitting.sort(key=lambda found: found[:2])
        return [(spot, taken) for _left, _id, spot, taken in fitting[: job.nodes]]


def devices_on(spot: _Spot, job: QueuedJob, model: str) -> dict[int, int] | None:
    """The devices the job would take on this node, if its CPU and memory are enough too."""
    if spot.cpus < job.cpus or spot.memory_bytes < job.memory_bytes:
        return None
    return spot.devices_for(job, model)


def _suits(spot: _Spot, job: QueuedJob, project: Project, model: str) -> bool:
    """Whether the empty node could hold this job: model, source, pool, CPU, memory, bound of runtime."""
    node = spot.node
    if model not in spot.by_model or node.source not in project.sources:
        return False
    if node.holders is not None and project.id not in node.holders:
        return False
    if job.cpus > node.cpus or job.memory_bytes > node.memory_bytes:
        return False
    bound = node.max_runtime_bound_s
    return bound is None or job.max_runtime_s is None or job.max_runtime_s <= bound


def _shape(job: QueuedJob, model: str) -> Shape:
    """Jobs of one shape fit or do not fit alike; room never grows within a decision."""
    return (job.project, model, job.milli_gpus, job.nodes, job.cpus, job.memory_bytes, job.max_runtime_s)
