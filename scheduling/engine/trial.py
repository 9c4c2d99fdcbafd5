"""A room in which victims leave and come back: where a newcomer would fit then. The room itself is not changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduling.engine.model import MILLI, Ask, Job
from scheduling.engine.room import Bools, Room, Spot


@dataclass(slots=True)
class _Host:
    cpus: int
    memory: int
    members: int
    exclusive: int


@dataclass(slots=True)
class _Row:
    frees: list[int]
    host: _Host
    holders: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)


class Trial:
    """Only what is touched is noted, as plain numbers: a search moves some jobs thousands of times, and a copy of all
    arrays costs more than the few rows that it looks at. ``count``: rows where one member of the newcomer fits now.

    ``rows``: of one GPU model, so that each is a node of its own; the newcomer may go there and nowhere else.
    """

    def __init__(self, room: Room, newcomer: Job, rows: Bools) -> None:
        self._room, self._ask, self._project = room, newcomer.ask, newcomer.project
        self._suits = room.could_hold(newcomer.ask) & rows
        self._before = room.fits(newcomer.ask, newcomer.project, rows)
        self._now: dict[int, bool] = {}
        self.count = int(self._before.sum())
        self._rows: dict[int, _Row] = {}
        self._hosts: dict[int, _Host] = {}

    def fits_on(self, rows: Iterable[int]) -> bool:
        """Whether one member fits on each of these rows."""
        return all(self._now.get(row, self._before[row]) for row in rows)

    def leave(self, spots: Sequence[Spot], job: Job) -> None:
        self._move(spots, job, 1)

    def come_back(self, spots: Sequence[Spot], job: Job) -> None:
        """The inverse of ``leave``, in any order with others."""
        self._move(spots, job, -1)

    def _move(self, spots: Sequence[Spot], job: Job, sign: int) -> None:
        ask = job.ask
        for spot in spots:
            row = self._row(spot.row)
            if spot.has_host:
                row.host.cpus += sign * ask.cpus
                row.host.memory += sign * ask.memory_bytes
                row.host.members -= sign
                row.host.exclusive -= sign * ask.is_exclusive
            for column in spot.columns:
                row.frees[column] += sign * spot.milli
                if spot.milli < MILLI:
                    self._hold(spot.row, column, (job.project, ask.shares_device), sign)
        for spot in spots:
            for beside in self._room.beside(spot.row):
                if self._suits[beside]:
                    self._judge(beside)

    def _row(self, row: int) -> _Row:
        if row not in self._rows:
            room, host = self._room, int(self._room.host[row])
            if host not in self._hosts:
                cpus, memory, members = int(room.cpus[host]), int(room.memory[host]), int(room.members[host])
                self._hosts[host] = _Host(cpus, memory, members, room.exclusive_on(host))
            self._rows[row] = _Row(room.free[row].tolist(), self._hosts[host])
        return self._rows[row]

    def _hold(self, row: int, column: int, holder: tuple[int, bool], sign: int) -> None:
        holders = self._holders(row, column)
        if sign > 0:
            holders.remove(holder)
        else:
            holders.append(holder)

    def _holders(self, row: int, column: int) -> list[tuple[int, bool]]:
        known = self._row(row).holders
        if column not in known:
            known[column] = list(self._room.holders_of(row, column))
        return known[column]

    def _judge(self, row: int) -> None:
        """Note whether a member fits there now: what ``Room.fits`` says of all rows."""
        fits = self._has_host(self._row(row).host, self._ask) and self._has_devices(row, self._row(row).frees)
        self.count += int(fits) - int(self._now.get(row, self._before[row]))
        self._now[row] = fits

    @staticmethod
    def _has_host(host: _Host, ask: Ask) -> bool:
        return (
            host.exclusive == 0
            and (not ask.cpus or host.cpus >= ask.cpus)
            and (not ask.memory_bytes or host.memory >= ask.memory_bytes)
            and not (ask.is_exclusive and host.members)
        )

    def _has_devices(self, row: int, frees: list[int]) -> bool:
        ask = self._ask
        if ask.milli >= MILLI:
            return frees.count(MILLI) >= ask.devices
        if ask.milli <= 0 or MILLI in frees:
            return True
        return any(free >= ask.milli and self._admits(row, column) for column, free in enumerate(frees))

    def _admits(self, row: int, column: int) -> bool:
        """Whether the present holders of a device let a part of it be used."""
        holders = self._holders(row, column)
        is_own = {project for project, _shares in holders} == {self._project}
        return is_own or (self._ask.shares_device and bool(holders) and all(shares for _project, shares in holders))
