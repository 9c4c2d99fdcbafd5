"""A scenario says how many GPUs of a node a job holds; here they get concrete devices."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from scheduling.engine.model import MILLI, Job, Node, Placement


@dataclass(frozen=True, slots=True)
class Held:
    """A job's part on one node; ``path`` is where the file says so."""

    job: Job
    node: Node
    milli: int
    path: str


class Floor:
    """Devices of all nodes with what is free on them. Jobs are laid in the order of (order, id), whole GPUs first: a
    file that can be laid at all can be laid so."""

    def __init__(self, nodes: Iterable[Node], fault: Callable[[str, str], None]) -> None:
        self._fault = fault
        self._free = {node.id: {device.id: MILLI for device in node.devices} for node in nodes}
        self._users: dict[int, list[Job]] = defaultdict(list)

    def lay(self, held: Iterable[Held]) -> Mapping[int, Placement]:
        """Node → device → milli-GPU, by job."""
        placements: dict[int, dict[int, dict[int, int]]] = defaultdict(dict)
        for part in sorted(held, key=lambda part: (part.milli % MILLI != 0, part.job.order, part.job.id, part.node.id)):
            placements[part.job.id][part.node.id] = self._devices(part)
        return placements

    def _devices(self, part: Held) -> dict[int, int]:
        free = self._free[part.node.id]
        chosen = self._part_of_one(part) if 0 < part.milli < MILLI else self._whole(part)
        if len(chosen) * MILLI < part.milli:
            asked, has, left = part.milli / MILLI, len(part.node.devices), sum(free.values()) / MILLI
            self._fault(part.path, f"{asked:g} GPU(s) do not fit: the node has {has}, of which {left:g} are still free")
            return {}
        taken = dict.fromkeys(chosen, min(part.milli, MILLI))
        for device, milli in taken.items():
            free[device] -= milli
            self._users[device].append(part.job)
        return taken

    def _whole(self, part: Held) -> list[int]:
        free = self._free[part.node.id]
        return [device for device in sorted(free) if free[device] == MILLI][: -(-part.milli // MILLI)]

    def _part_of_one(self, part: Held) -> list[int]:
        """A device shared with jobs that may share it, the fullest first; else an unused one; else any."""
        free = self._free[part.node.id]
        room = sorted((milli, device) for device, milli in free.items() if milli >= part.milli)
        shared = [device for milli, device in room if milli < MILLI and self._may_share(device, part.job)]
        unused = [device for milli, device in room if milli == MILLI]
        return (shared or unused or [device for _milli, device in room])[:1]

    def _may_share(self, device: int, job: Job) -> bool:
        return all(
            user.project == job.project or (user.ask.shares_device and job.ask.shares_device)
            for user in self._users[device]
        )
