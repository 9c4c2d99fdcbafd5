"""When GPUs become free, by the max runtimes of what runs; and the starts planned on them.

What runs without a max runtime never ends here, so a plan that needs it is not finite and is not made.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.model import MILLI, Ask, Job, JobState, Policy
from scheduling.engine.room import Bools, Room, Spot
from scheduling.engine.views import Hold, Plans, Respected

NEVER = float("inf")


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
        self._open: dict[int, int] = {}
        self.plans = Plans(room)
        self._planned: Counter[int] = Counter()

    # What runs

    def end_of(self, job: Job, start: float | None = None) -> float:
        """When a job ends that starts now, or at ``start``, or that runs already. One that has run for as long as it
        may is about to be told to stop, so that it is there for as long as one that stops."""
        if job.state is JobState.STOPPING:
            return self._now + self._grace
        if job.max_runtime_s is None:
            return NEVER
        runs = job.state is JobState.RUNNING and start is None
        begun = job.started_at if runs else start
        end = (self._now if begun is None else begun) + job.max_runtime_s
        return self._now + self._grace if runs and end <= self._now else max(self._now, end)

    def begin(self, jobs: Iterable[Job], spots: Mapping[int, Sequence[Spot]]) -> None:
        """Note what runs and stops where, all at once: one by one it takes several times as long."""
        rows: list[int] = []
        columns: list[int] = []
        ends: list[float] = []
        for job in jobs:
            end = self.end_of(job)
            self._of_job[job.id] = end, job.gpu_model, job
            self._open[job.id] = self._on_open_rows(spots[job.id])
            for spot in spots[job.id]:
                self._stays[int(self._room.host[spot.row])].append(_Stay(end, job, job.gpu_model, spot))
                for column in spot.columns:
                    rows.append(spot.row)
                    columns.append(column)
                    ends.append(end)
        if rows:
            np.maximum.at(self.free_at, (rows, columns), ends)

    def add(self, job: Job, model: str, spots: Iterable[Spot], end: float) -> None:
        """Note that the job has these spots until ``end``."""
        self._of_job[job.id] = end, model, job
        self._open[job.id] = self._on_open_rows(spots)
        for spot in spots:
            columns = list(spot.columns)
            self.free_at[spot.row, columns] = np.maximum(self.free_at[spot.row, columns], end)
            self._stays[int(self._room.host[spot.row])].append(_Stay(end, job, model, spot))

    def stop(self, job: Job, spots: Iterable[Spot]) -> None:
        """A running job is told to stop: it ends when its grace time does."""
        end = self._now + self._grace
        self._of_job[job.id] = end, self._of_job[job.id][1], job
        for spot in spots:
            stays = self._stays[int(self._room.host[spot.row])]
            for stay in stays:
                if stay.job.id == job.id:
                    stay.end = end
            self.find_ends(spot)

    def use_at(self, model: str, moment: float, gone: Container[int] = ()) -> dict[int, int]:
        """Milli-GPU of the model by project, of what is still there after this moment (of all, at the present), but
        for the jobs that are ``gone``."""
        used: dict[int, int] = defaultdict(int)
        for job in self._there(model, moment, gone):
            used[job.project] += job.ask.total_milli
        return used

    def left_at(self, model: str, moment: float, gone: Container[int] = ()) -> int:
        """Milli-GPU of the model on nodes that take something new, without what is still there after this moment."""
        return self.total(model) - sum(self._open[job.id] for job in self._there(model, moment, gone))

    def _there(self, model: str, moment: float, gone: Container[int]) -> Iterator[Job]:
        for end, of_model, job in self._of_job.values():
            if of_model == model and job.id not in gone and (end > moment or moment <= self._now):
                yield job

    def on_open_rows(self, job: Job) -> int:
        """Milli-GPU that a job which runs has on nodes that take something new."""
        return self._open[job.id]

    def _on_open_rows(self, spots: Iterable[Spot]) -> int:
        return sum(spot.milli * len(spot.columns) for spot in spots if self._room.can_take[spot.row])

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
        """The first moment at which enough of these rows, all of one model, have room for the whole job; None if there
        is none."""
        ask, room = job.ask, self._room
        able = np.flatnonzero(rows & room.can_take & room.could_hold(ask))
        if len(able) < ask.nodes:
            return None
        times = self._device_times(able, ask)
        ends = times < NEVER
        queue = list(zip(times[ends].tolist(), able[ends].tolist(), strict=True))
        heapq.heapify(queue)
        chosen: list[tuple[float, int]] = []
        while queue and len(chosen) < ask.nodes:
            at, row = heapq.heappop(queue)
            ready = self._host_time(int(room.host[row]), ask, at)
            if ready <= at:
                chosen.append((at, row))
            elif ready < NEVER:
                heapq.heappush(queue, (ready, row))
        if len(chosen) < ask.nodes:
            return None
        start = max(at for at, _row in chosen)
        return Hold(job, start, tuple(self._spot(row, ask) for _at, row in chosen))

    def hold(self, plan: Hold) -> None:
        """Keep what the plan needs from then on, so that later plans are made around it."""
        self.plans.add(replace(plan, keeps=tuple(self._kept(plan, spot) for spot in plan.spots)))
        self._planned[int(self._room.row_model[plan.spots[0].row])] += 1
        end = self.end_of(plan.job, plan.start)
        for spot in plan.spots:
            self.free_at[spot.row, list(spot.columns)] = end
            self._stays[int(self._room.host[spot.row])].append(_Stay(end, plan.job, "", spot))

    def planned(self, model: str) -> int:
        """How many planned starts there are on the model."""
        return self._planned[self._room.models.index(model)]

    def drop(self, job: Job) -> None:
        """The job starts another way: its plan binds nobody any more."""
        if (plan := self.plans.of(job)) is None:
            return
        self.plans.remove(job)
        self._planned[int(self._room.row_model[plan.spots[0].row])] -= 1
        for spot in plan.spots:
            stays = self._stays[int(self._room.host[spot.row])]
            stays[:] = [stay for stay in stays if stay.model or stay.job.id != job.id]
            self.find_ends(spot)

    def set_aside(self, job: Job, spot: Spot) -> None:
        """These devices are the job's already; it starts within the grace time, and ends then."""
        ends = self.end_of(job, self._now + self._grace)
        self.free_at[spot.row, list(spot.columns)] = np.maximum(self.free_at[spot.row, list(spot.columns)], ends)

    def find_ends(self, spot: Spot) -> None:
        """When the devices of a spot are free, after something there has changed."""
        stays = [stay for stay in self._stays[int(self._room.host[spot.row])] if stay.spot.row == spot.row]
        for column in spot.columns:
            ends = [stay.end for stay in stays if column in stay.spot.columns]
            self.free_at[spot.row, column] = max([self._now, *ends])

    def respected(self, job: Job) -> Respected:
        """The plans of others that a start of the job now could move: those that begin before its end."""
        return self.plans.before(self.end_of(job), job)

    def view(self, job: Job) -> Room:
        """The room as this job may use it now. Valid until the next call; not to be changed."""
        view = self.plans.view(self.end_of(job), job)
        return self._room if view is None else view

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
