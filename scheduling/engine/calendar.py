"""When GPUs become free, by the max runtimes of what runs; and the starts planned on them.

What runs without a max runtime never ends here, so a plan that needs it is not finite and is not made.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.model import MILLI, Ask, Job, JobState, Policy
from scheduling.engine.room import Bools, Room, Spot

NEVER = float("inf")
_BLOCKED = -1
"""Takes what a plan keeps from others; no project has this number."""


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """A planned start: at ``start`` the job is to have these whole devices, ``spots`` one a member. ``keeps``: of
    today's free CPU and memory of each host, what will be needed because too little becomes free until then."""

    job: Job
    start: float
    spots: tuple[Spot, ...]
    keeps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Respected:
    """Plans that a start must not move, and their rows and columns."""

    plans: tuple[Hold, ...]
    places: frozenset[tuple[int, int]]


@dataclass(slots=True)
class _Stay:
    """Something on a host until ``end``."""

    end: float
    job: Job
    model: str
    spot: Spot


class Calendar:
    """Ends of all that runs, by device and host, and the planned starts. ``free_at`` [rows, devices]: when each device
    is wholly free, infinite where there is none."""

    def __init__(self, room: Room, now: float, policy: Policy) -> None:
        self._room = room
        self._now = now
        self._grace = policy.grace_s
        self.free_at: NDArray[np.float64] = np.where(room.free >= 0, now, NEVER)
        self._stays: dict[int, list[_Stay]] = defaultdict(list)
        self._of_job: dict[int, tuple[float, str, Job]] = {}
        self.holds: list[Hold] = []
        self._hold_of: dict[int, Hold] = {}
        self._views: dict[tuple[Hold, ...], Room] = {}
        self._respected: dict[tuple[float, int | None], Respected] = {}

    # What runs

    def end_of(self, job: Job, start: float | None = None) -> float:
        """When a job ends that starts now, or at ``start``, or that runs already."""
        if job.state is JobState.STOPPING:
            return self._now + self._grace
        if job.max_runtime_s is None:
            return NEVER
        begun = start if start is not None else job.started_at if job.state is JobState.RUNNING else self._now
        return max(self._now, (self._now if begun is None else begun) + job.max_runtime_s)

    def begin(self, jobs: Iterable[Job], spots: Mapping[int, Sequence[Spot]]) -> None:
        """Note what runs and stops where, all at once: one by one it takes several times as long."""
        taken: list[tuple[int, int]] = []
        ends: list[float] = []
        for job in jobs:
            end = self.end_of(job)
            self._of_job[job.id] = end, job.gpu_model, job
            for spot in spots[job.id]:
                self._stays[int(self._room.host[spot.row])].append(_Stay(end, job, job.gpu_model, spot))
                taken.extend((spot.row, column) for column in spot.columns)
                ends.extend([end] * len(spot.columns))
        if taken:
            rows, columns = np.array(taken, dtype=np.int64).T
            np.maximum.at(self.free_at, (rows, columns), ends)

    def add(self, job: Job, model: str, spots: Iterable[Spot], end: float) -> None:
        """Note that the job has these spots until ``end``."""
        self._of_job[job.id] = end, model, job
        for spot in spots:
            columns = list(spot.columns)
            self.free_at[spot.row, columns] = np.maximum(self.free_at[spot.row, columns], end)
            self._stays[int(self._room.host[spot.row])].append(_Stay(end, job, model, spot))
        self.changed()

    def stop(self, job: Job, spots: Iterable[Spot]) -> None:
        """A running job is told to stop: it ends when its grace time does."""
        end = self._now + self._grace
        self._of_job[job.id] = end, self._of_job[job.id][1], job
        for spot in spots:
            stays = self._stays[int(self._room.host[spot.row])]
            for stay in stays:
                if stay.job.id == job.id:
                    stay.end = end
            self._find_ends(spot)
        self.changed()

    def use_at(self, model: str, moment: float) -> dict[int, int]:
        """Milli-GPU of the model by project, of what is still there after this moment (of all, at the present)."""
        used: dict[int, int] = defaultdict(int)
        for end, of_model, job in self._of_job.values():
            if of_model == model and (end > moment or moment <= self._now):
                used[job.project] += job.ask.total_milli
        return used

    def ends(self, model: str) -> list[tuple[float, Job]]:
        """What runs on the model, by its end."""
        found = [(end, job) for end, of_model, job in self._of_job.values() if of_model == model]
        return sorted(found, key=lambda ended: (ended[0], ended[1].id))

    def total(self, model: str) -> int:
        """Milli-GPU of the model on rows that take something new."""
        room = self._room
        is_model = room.row_model == (room.models.index(model) if model in room.models else -1)
        return int(self._room.devices[is_model & self._room.can_take].sum()) * MILLI

    # What is planned

    def earliest(self, job: Job, rows: Bools) -> Hold | None:
        """The first moment at which enough of these rows have room for the whole job; None if there is none."""
        ask, room = job.ask, self._room
        able = np.flatnonzero(rows & room.can_take & room.could_hold(ask))
        if len(able) < ask.nodes:
            return None
        times = self._device_times(able, ask)
        queue = [(float(at), int(row)) for at, row in zip(times, able, strict=True) if at < NEVER]
        heapq.heapify(queue)
        chosen: dict[int, tuple[float, int]] = {}
        while queue and len(chosen) < ask.nodes:
            at, row = heapq.heappop(queue)
            host = int(room.host[row])
            ready = self._host_time(host, ask, at)
            if ready > at:
                if ready < NEVER:
                    heapq.heappush(queue, (ready, row))
            elif host not in chosen:
                chosen[host] = at, row
        if len(chosen) < ask.nodes:
            return None
        start = max(at for at, _row in chosen.values())
        return Hold(job, start, tuple(self._spot(row, ask) for _at, row in chosen.values()))

    def hold(self, plan: Hold) -> None:
        """Keep what the plan needs from then on, so that later plans are made around it."""
        kept = replace(plan, keeps=tuple(self._kept(plan, spot) for spot in plan.spots))
        self.holds.append(kept)
        self._hold_of[plan.job.id] = kept
        end = self.end_of(plan.job, plan.start)
        for spot in plan.spots:
            self.free_at[spot.row, list(spot.columns)] = end
            self._stays[int(self._room.host[spot.row])].append(_Stay(end, plan.job, "", spot))
        self._respected.clear()

    def planned(self, model: str) -> int:
        """How many planned starts there are on the model."""
        rooms = [self._room.row_model[plan.spots[0].row] for plan in self.holds]
        return sum(1 for at in rooms if self._room.models[int(at)] == model)

    def drop(self, job: Job) -> None:
        """The job starts another way: its plan binds nobody any more."""
        if (plan := self._hold_of.pop(job.id, None)) is not None:
            self.holds.remove(plan)
            for spot in plan.spots:
                stays = self._stays[int(self._room.host[spot.row])]
                stays[:] = [stay for stay in stays if stay.model or stay.job.id != job.id]
                self._find_ends(spot)
            self._respected.clear()

    def _find_ends(self, spot: Spot) -> None:
        """When the devices of a spot are free, after something there has changed."""
        stays = [stay for stay in self._stays[int(self._room.host[spot.row])] if stay.spot.row == spot.row]
        for column in spot.columns:
            ends = [stay.end for stay in stays if column in stay.spot.columns]
            self.free_at[spot.row, column] = max([self._now, *ends])

    def changed(self) -> None:
        """The room is not what it was."""
        self._views.clear()

    def respected(self, job: Job) -> "Respected":
        """The plans of others that a start of the job now could move: those that begin before its end."""
        end = self.end_of(job)
        key = end, job.id if job.id in self._hold_of else None
        if key not in self._respected:
            plans = [plan for plan in self.holds if plan.start < end and plan.job.id != job.id]
            places = {(spot.row, column) for plan in plans for spot in plan.spots for column in spot.columns}
            self._respected[key] = Respected(tuple(plans), frozenset(places))
        return self._respected[key]

    def view(self, job: Job) -> Room:
        """The room as this job may use it now. Not to be changed."""
        return self.around(self.respected(job).plans)

    def around(self, plans: tuple[Hold, ...]) -> Room:
        """The room without what these plans need. Not to be changed."""
        if not plans:
            return self._room
        if plans not in self._views:
            self._views[plans] = self._around(plans)
        return self._views[plans]

    def _around(self, plans: Sequence[Hold]) -> Room:
        self._room.states()
        room = self._room.copy()
        for plan in plans:
            for spot, (cpus, memory) in zip(plan.spots, plan.keeps, strict=True):
                frees = room.free[spot.row].tolist()
                whole = tuple(column for column in spot.columns if frees[column] == MILLI)
                host = Ask(len(whole) * MILLI, cpus=cpus, memory_bytes=memory)
                if whole or cpus or memory:
                    room.take(Spot(spot.row, whole, MILLI), host, _BLOCKED)
                for column in spot.columns:
                    if 0 < frees[column] < MILLI:
                        room.take(Spot(spot.row, (column,), frees[column], has_host=False), Ask(0), _BLOCKED)
        return room

    def _kept(self, plan: Hold, spot: Spot) -> tuple[int, int]:
        stays, ask = self._stays[int(self._room.host[spot.row])], plan.job.ask
        ended = [stay.job.ask for stay in stays if stay.end <= plan.start and stay.model]
        cpus = max(0, ask.cpus - sum(done.cpus for done in ended))
        return cpus, max(0, ask.memory_bytes - sum(done.memory_bytes for done in ended))

    def _device_times(self, rows: NDArray[np.intp], ask: Ask) -> NDArray[np.float64]:
        """When each row has enough wholly free devices."""
        if ask.is_exclusive:
            free_at = np.where(self._room.free[rows] >= 0, self.free_at[rows], self._now)
            return np.asarray(free_at.max(axis=1, initial=self._now))
        if ask.milli == 0:
            return np.full(len(rows), self._now)
        return np.asarray(np.sort(self.free_at[rows], axis=1)[:, ask.devices - 1])

    def _host_time(self, host: int, ask: Ask, at: float) -> float:
        """The first moment from ``at`` on when the host has the CPU and memory, too; and is empty if it must be."""
        stays = [stay for stay in self._stays[host] if stay.end > at]
        if ask.is_exclusive:
            return max((stay.end for stay in stays), default=at)
        at = max((stay.end for stay in stays if stay.job.ask.is_exclusive), default=at)
        stays = [stay for stay in stays if stay.end > at]
        if not ask.cpus and not ask.memory_bytes:
            return at
        cpus = int(self._room.total_cpus[host]) - sum(stay.job.ask.cpus for stay in stays)
        memory = int(self._room.total_memory[host]) - sum(stay.job.ask.memory_bytes for stay in stays)
        for stay in sorted(stays, key=lambda stay: stay.end):
            if cpus >= ask.cpus and memory >= ask.memory_bytes:
                break
            at, cpus, memory = stay.end, cpus + stay.job.ask.cpus, memory + stay.job.ask.memory_bytes
        return at if cpus >= ask.cpus and memory >= ask.memory_bytes else NEVER

    def _spot(self, row: int, ask: Ask) -> Spot:
        """The devices of the row that are free first."""
        order = np.argsort(self.free_at[row], kind="stable")[: ask.devices]
        return Spot(row, tuple(sorted(int(column) for column in order)), min(ask.milli, MILLI))
