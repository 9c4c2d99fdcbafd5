"""What is free: devices, CPU and memory of all nodes as arrays, so that thousands of rows are judged at once.

A row is one node and one GPU model on it. A node with mixed cards has a row for each, which share one host's CPU and
memory; a node without GPUs has one row of model ``""``. Milli-GPU: 1000 is the whole device.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.model import MILLI, Ask, Job, Node, NodeState, Placement

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
State = tuple[int, tuple[int, ...], int, int]
"""Number of the card, free milli-GPU of each device in ascending order, free CPU and memory: such rows are alike."""

UNCOUNTED = 1 << 60
"""CPU and memory of a node that does not count them."""
_NOBODY, _MANY = -(1 << 62), -(1 << 62) + 1


@dataclass(frozen=True, slots=True)
class Spot:
    """What one member of a job takes on a row: these device columns, ``milli`` of each. ``has_host``: CPU and memory
    are counted here; not for the second row of one member, which only a placement made elsewhere can have."""

    row: int
    columns: tuple[int, ...]
    milli: int
    has_host: bool = True


@dataclass(frozen=True, slots=True)
class Card:
    """The GPU of a row, its memory and how nodes with it are connected."""

    gpu_model: str
    gpu_memory_bytes: int
    interconnect: str

    def suits(self, ask: Ask) -> bool:
        """Whether the card and its connection are what is asked for."""
        return (
            (not ask.gpu_models or self.gpu_model in ask.gpu_models)
            and self.gpu_memory_bytes >= ask.gpu_memory_bytes
            and ask.interconnect in ("", self.interconnect)
        )


class Room:
    """Rows sorted by node name, then model. ``free`` [rows, devices] is -1 where there is no device; ``whole`` counts
    the wholly free ones, ``largest_part`` is the most that is left on a device taken in part; ``cpus`` and ``memory``
    are of hosts, ``host`` [rows] says which. What is placed by ``take`` where it ``fits`` never makes anything
    negative; a placement made elsewhere may, and then nothing more fits there. ``moved``: the host of each move."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        hosts = sorted(nodes, key=lambda node: (node.name, node.id))
        rows = [(at, node, model) for at, node in enumerate(hosts) for model in _models_of(node)]
        self.hosts = tuple(hosts)
        self.nodes = tuple(node for _at, node, _model in rows)
        self.models = tuple(sorted({model for _at, _node, model in rows}))
        self.row_model = np.array([self.models.index(model) for _at, _node, model in rows], dtype=np.int64)
        self.host = np.array([at for at, _node, _model in rows], dtype=np.int64)
        self.can_take = np.array([node.state is NodeState.UP for node in self.nodes], dtype=np.bool_)
        self._is_there = np.array([node.state is not NodeState.DOWN for node in self.nodes], dtype=np.bool_)
        cards = [Card(model, node.gpu_memory_bytes if model else 0, node.interconnect) for _at, node, model in rows]
        self.cards = tuple(dict.fromkeys(cards))
        self.row_card = np.array([self.cards.index(card) for card in cards], dtype=np.int64)
        self._columns = [_devices_of(node, model) for _at, node, model in rows]
        self._rows_of: dict[int, tuple[int, ...]] = {}
        for row, at in enumerate(self.host.tolist()):
            self._rows_of[at] = (*self._rows_of.get(at, ()), row)
        self._host_of = {node.id: at for at, node in enumerate(hosts)}
        self._able: dict[Ask, tuple[Bools, Bools]] = {}
        self._states: dict[State, int] = {}
        self._known: list[State] = []
        self.moved: list[int] = []
        self._empty()

    def _empty(self) -> None:
        rows, width = len(self.nodes), max(map(len, self._columns), default=0)
        self.devices: Ints = np.array([len(columns) for columns in self._columns], dtype=np.int64)
        self.free: Ints = np.where(np.arange(width) < self.devices[:, None], MILLI, -1)
        self.whole: Ints = self.devices.copy()
        self.largest_part: Ints = np.zeros(rows, dtype=np.int64)
        self.total_cpus: Ints = _counted(node.cpus for node in self.hosts)
        self.total_memory: Ints = _counted(node.memory_bytes for node in self.hosts)
        self.cpus, self.memory = self.total_cpus.copy(), self.total_memory.copy()
        self.members: Ints = np.zeros(len(self.hosts), dtype=np.int64)
        self._exclusive: Ints = np.zeros(len(self.hosts), dtype=np.int64)
        self._is_open = self.can_take.copy()
        self._sole: Ints = np.full((rows, width), _NOBODY, dtype=np.int64)
        self._shared: Bools = np.zeros((rows, width), dtype=np.bool_)
        self._holders: dict[tuple[int, int], tuple[tuple[int, bool], ...]] = {}
        self._state: Ints = np.zeros(rows, dtype=np.int64)
        self._stale: set[int] = set(range(rows))

    def copy(self) -> "Room":
        """One that can be changed without changing this."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if name in _MUTABLE:
                setattr(other, name, value.copy())
        other.moved = []
        return other

    def match(self, other: "Room", hosts: Sequence[int]) -> None:
        """Make these hosts what they are in a room of the same nodes."""
        rows = [row for host in hosts for row in self._rows_of[host]]
        for name in _OF_ROWS:
            getattr(self, name)[rows] = getattr(other, name)[rows]
        for name in _OF_HOSTS:
            getattr(self, name)[hosts] = getattr(other, name)[hosts]
        for place in [(row, column) for row in rows for column in range(len(self._columns[row]))]:
            self._holders.pop(place, None)
            if place in other._holders:
                self._holders[place] = other._holders[place]
        self._stale.update(rows)

    # What fits

    def fits(self, ask: Ask, project: int, rows_mask: Bools | None = None) -> Bools:
        """Rows where one member has room now. A part of a GPU: a device whose present holders are all of the same
        project, or all share it as the ask does; else a free one."""
        able = self._masks(ask)[1] & self._is_open
        if rows_mask is not None:
            able &= rows_mask
        if ask.cpus:
            able &= (self.cpus >= ask.cpus)[self.host]
        if ask.memory_bytes:
            able &= (self.memory >= ask.memory_bytes)[self.host]
        if ask.is_exclusive:
            able &= (self.members == 0)[self.host]
        if ask.milli >= MILLI:
            able &= self.whole >= ask.devices
        elif ask.milli > 0:
            self._only_parts(able, ask, project)
        return able

    def _only_parts(self, able: Bools, ask: Ask, project: int) -> None:
        no_whole = self.whole == 0
        able &= ~no_whole | (self.largest_part >= ask.milli)
        doubtful = np.flatnonzero(able & no_whole)
        if len(doubtful):
            admits = self._sole[doubtful] == project
            if ask.shares_device:
                admits |= self._shared[doubtful]
            able[doubtful] = (admits & (self.free[doubtful] >= ask.milli)).any(axis=1)

    def could_hold(self, ask: Ask) -> Bools:
        """Rows that have room for one member when everything is free and that are not down. Not to be changed."""
        return self._masks(ask)[0]

    def _masks(self, ask: Ask) -> tuple[Bools, Bools]:
        """``could_hold``, and the same of rows that take something new."""
        if ask not in self._able:
            suits = np.array([card.suits(ask) for card in self.cards], dtype=np.bool_)
            held = suits[self.row_card] if len(self.nodes) else np.zeros(0, dtype=np.bool_)
            held &= (self.total_cpus >= ask.cpus)[self.host] & (self.total_memory >= ask.memory_bytes)[self.host]
            held &= self.devices >= ask.devices
            held &= self._is_there
            self._able[ask] = held, held & self.can_take
        return self._able[ask]

    # Taking and giving back

    def spot(self, row: int, ask: Ask, project: int) -> Spot:
        """The devices that a member would take on a row where it fits: for a part the fullest shared device that has
        enough left, else a free one; the lowest columns first. Raises ``LookupError`` where it does not fit."""
        frees = self.free[row].tolist()
        whole = [column for column, free in enumerate(frees) if free == MILLI]
        if ask.milli <= 0:
            return Spot(row, (), 0)
        if ask.milli < MILLI and (parts := self.parts(row, ask, project)):
            return Spot(row, (min((frees[column], column) for column in parts)[1],), ask.milli)
        if len(whole) < ask.devices:
            raise LookupError(f"no room on {self.nodes[row].name}")
        return Spot(row, tuple(whole[: ask.devices]), min(ask.milli, MILLI))

    def parts(self, row: int, ask: Ask, project: int) -> list[int]:
        """Columns of devices taken in part that the member may join."""
        return [
            column
            for column, free in enumerate(self.free[row].tolist())
            if ask.milli <= free < MILLI
            and (self._sole[row, column] == project or (ask.shares_device and bool(self._shared[row, column])))
        ]

    def take(self, spot: Spot, ask: Ask, project: int) -> None:
        self._move(spot, ask, project, 1)

    def give_back(self, spot: Spot, ask: Ask, project: int) -> None:
        """The inverse of ``take``, in any order with others."""
        self._move(spot, ask, project, -1)

    def _move(self, spot: Spot, ask: Ask, project: int, sign: int) -> None:
        host = int(self.host[spot.row])
        if spot.has_host:
            self.cpus[host] -= sign * ask.cpus
            self.memory[host] -= sign * ask.memory_bytes
            self.members[host] += sign
            if ask.is_exclusive:
                self._exclusive[host] += sign
                rows = list(self._rows_of[host])
                self._is_open[rows] = self.can_take[rows] & (self._exclusive[host] == 0)
        for column in spot.columns:
            self.free[spot.row, column] -= sign * spot.milli
            if spot.milli < MILLI:
                self._hold(spot.row, column, (project, ask.shares_device), sign)
        if spot.columns:
            frees = self.free[spot.row].tolist()
            self.whole[spot.row] = frees.count(MILLI)
            self.largest_part[spot.row] = max((free for free in frees if 0 < free < MILLI), default=0)
        self._stale.update(self._rows_of[host])
        self.moved.append(host)

    def _hold(self, row: int, column: int, holder: tuple[int, bool], sign: int) -> None:
        holders = list(self._holders.get((row, column), ()))
        if sign > 0:
            holders = sorted([*holders, holder])
        else:
            holders.remove(holder)
        self._holders[row, column] = tuple(holders)
        if not holders:
            del self._holders[row, column]
        projects = {project for project, _shares in holders}
        self._sole[row, column] = _MANY if len(projects) > 1 else next(iter(projects), _NOBODY)
        self._shared[row, column] = bool(holders) and all(shares for _project, shares in holders)

    def take_all_placed(self, jobs: Sequence[Job]) -> dict[int, tuple[Spot, ...]]:
        """Take what running jobs hold; by job, its spots. A node that is not here and devices that are not (unhealthy
        ones) are skipped; what it holds of the node's CPU and memory counts all the same."""
        spots = {
            job.id: tuple(spot for node in sorted(job.placement) for spot in self._spots_of(node, job.placement[node]))
            for job in jobs
        }
        rows: list[int] = []
        columns: list[int] = []
        milli: list[int] = []
        for job in jobs:
            for spot in spots[job.id]:
                for column in spot.columns:
                    rows.append(spot.row)
                    columns.append(column)
                    milli.append(spot.milli)
                    if spot.milli < MILLI:
                        self._hold(spot.row, column, (job.project, job.ask.shares_device), 1)
        if rows:
            np.subtract.at(self.free, (rows, columns), milli)
        self._take_hosts(jobs, spots)
        self.whole = (self.free == MILLI).sum(axis=1)
        parts = np.where((self.free > 0) & (self.free < MILLI), self.free, 0)
        self.largest_part = parts.max(axis=1, initial=0)
        self._stale.update(range(len(self.nodes)))
        return spots

    def _take_hosts(self, jobs: Iterable[Job], spots: Mapping[int, Sequence[Spot]]) -> None:
        """What members hold of hosts besides devices, all at once: one by one it takes several times as long."""
        hosts: list[int] = []
        asks: list[Ask] = []
        for job in jobs:
            for spot in spots[job.id]:
                if spot.has_host:
                    hosts.append(int(self.host[spot.row]))
                    asks.append(job.ask)
        if not hosts:
            return
        np.subtract.at(self.cpus, hosts, [ask.cpus for ask in asks])
        np.subtract.at(self.memory, hosts, [ask.memory_bytes for ask in asks])
        np.add.at(self.members, hosts, 1)
        np.add.at(self._exclusive, hosts, [int(ask.is_exclusive) for ask in asks])
        self._is_open = self.can_take & (self._exclusive == 0)[self.host]

    def _spots_of(self, node: int, devices: Mapping[int, int]) -> list[Spot]:
        if node not in self._host_of:
            return []
        rows = self.rows_of(node)
        groups: dict[tuple[int, int], list[int]] = {}
        for device in sorted(devices):
            for row in rows:
                if device in self._columns[row]:
                    groups.setdefault((row, devices[device]), []).append(self._columns[row].index(device))
        if not groups:
            return [Spot(rows[0], (), 0)]
        return [
            Spot(row, tuple(columns), milli, has_host=at == 0)
            for at, ((row, milli), columns) in enumerate(sorted(groups.items()))
        ]

    def placement(self, spots: Iterable[Spot]) -> Placement:
        """Node → device → milli-GPU."""
        placed: dict[int, dict[int, int]] = {}
        for spot in spots:
            taken = placed.setdefault(self.nodes[spot.row].id, {})
            taken.update((self._columns[spot.row][column], spot.milli) for column in spot.columns)
        return placed

    # Sums and states

    def are_alone(self, rows: NDArray[np.intp]) -> Bools:
        """Where somebody on the row's node wants it alone."""
        return np.asarray(self._exclusive[self.host[rows]] > 0)

    def rows_of(self, node: int) -> tuple[int, ...]:
        """The rows of a node by its id; none if it is not here."""
        return self._rows_of[self._host_of[node]] if node in self._host_of else ()

    def beside(self, row: int) -> tuple[int, ...]:
        """The rows of this row's node."""
        return self._rows_of[int(self.host[row])]

    def exclusive_on(self, host: int) -> int:
        """How many members that allow nothing else are on a host."""
        return int(self._exclusive[host])

    def holders_of(self, row: int, column: int) -> tuple[tuple[int, bool], ...]:
        """Of a device taken in part, the project of each part, and whether it shares the device."""
        return self._holders.get((row, column), ())

    def free_milli(self, model: str) -> int:
        """Of the model on rows that take something new."""
        rows = self._is_open & (self.row_model == (self.models.index(model) if model in self.models else -1))
        return int(np.maximum(self.free[rows], 0).sum())

    def states(self) -> Ints:
        """Per row the number of its state; equal numbers mean equal states."""
        for row in self._stale:
            host = self.host[row]
            frees = tuple(sorted(self.free[row, : self.devices[row]].tolist()))
            state = (int(self.row_card[row]), frees, int(self.cpus[host]), int(self.memory[host]))
            if state not in self._states:
                self._states[state] = len(self._known)
                self._known.append(state)
            self._state[row] = self._states[state]
        self._stale.clear()
        return self._state

    def known_states(self) -> Sequence[State]:
        """By their numbers. It only grows, and copies share it."""
        return self._known


_OF_ROWS = ("free", "whole", "largest_part", "_is_open", "_sole", "_shared")
_OF_HOSTS = ("cpus", "memory", "members", "_exclusive")
_MUTABLE = frozenset({*_OF_ROWS, *_OF_HOSTS, "_holders", "_state", "_stale"})


def _models_of(node: Node) -> list[str]:
    return sorted({device.gpu_model for device in node.devices}) or [""]


def _devices_of(node: Node, model: str) -> tuple[int, ...]:
    return tuple(sorted(device.id for device in node.devices if device.gpu_model == model))


def _counted(amounts: Iterable[Any]) -> Ints:
    return np.array([UNCOUNTED if amount is None else amount for amount in amounts], dtype=np.int64)
