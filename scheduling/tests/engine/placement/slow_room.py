"""What fits, written for reading and not for speed: the reference that ``Room`` is compared with."""

from collections.abc import Iterable

from scheduling.engine.model import MILLI, Ask, Node, NodeState
from scheduling.engine.room import Spot

Held = tuple[Spot, Ask, int]
"""A spot, what is taken there, and for which project."""


class SlowRoom:
    """Rows by node name, then model; everything is counted again from what is held."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        ordered = sorted(nodes, key=lambda node: (node.name, node.id))
        self.rows = [
            (node, model) for node in ordered for model in sorted({device.gpu_model for device in node.devices}) or [""]
        ]
        self.held: list[Held] = []

    def fits(self, ask: Ask, project: int) -> list[bool]:
        return [
            self._suits(row, ask) and self._host_has_room(row, ask) and self._devices_have_room(row, ask, project)
            for row in range(len(self.rows))
        ]

    def free(self, row: int) -> list[int]:
        free = [MILLI] * self._width(row)
        for spot, _ask, _project in self.held:
            for column in spot.columns if spot.row == row else ():
                free[column] -= spot.milli
        return free

    def left(self, row: int) -> tuple[float, float]:
        """CPU and memory of the row's node."""
        node = self.rows[row][0]
        here = [ask for spot, ask, _project in self.held if spot.has_host and self.rows[spot.row][0] is node]
        cpus = float("inf") if node.cpus is None else node.cpus
        memory = float("inf") if node.memory_bytes is None else node.memory_bytes
        return cpus - sum(ask.cpus for ask in here), memory - sum(ask.memory_bytes for ask in here)

    def _width(self, row: int) -> int:
        node, model = self.rows[row]
        return sum(device.gpu_model == model for device in node.devices)

    def _suits(self, row: int, ask: Ask) -> bool:
        node, model = self.rows[row]
        return (
            node.state is NodeState.UP
            and (not ask.gpu_models or model in ask.gpu_models)
            and (node.gpu_memory_bytes if model else 0) >= ask.gpu_memory_bytes
            and ask.interconnect in ("", node.interconnect)
        )

    def _host_has_room(self, row: int, ask: Ask) -> bool:
        node = self.rows[row][0]
        others = [other for spot, other, _project in self.held if self.rows[spot.row][0] is node]
        if any(other.is_exclusive for other in others) or (ask.is_exclusive and others):
            return False
        cpus, memory = self.left(row)
        return cpus >= ask.cpus and memory >= ask.memory_bytes

    def _devices_have_room(self, row: int, ask: Ask, project: int) -> bool:
        free = self.free(row)
        if ask.milli >= MILLI:
            return free.count(MILLI) >= ask.devices
        if ask.milli == 0:
            return True
        return any(
            left == MILLI or (left >= ask.milli and self._admits(row, column, ask, project))
            for column, left in enumerate(free)
        )

    def _admits(self, row: int, column: int, ask: Ask, project: int) -> bool:
        holders = [
            (other.shares_device, owner)
            for spot, other, owner in self.held
            if spot.row == row and column in spot.columns
        ]
        same = all(owner == project for _shares, owner in holders)
        return same or (ask.shares_device and all(shares for shares, _owner in holders))
