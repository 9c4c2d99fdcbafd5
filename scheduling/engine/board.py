"""One decision in progress: what is free, used, due and planned, and the acts that change it. The snapshot is not
changed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduling.engine.ahead import Ahead, Spares
from scheduling.engine.calendar import NEVER, Calendar
from scheduling.engine.eligibility import Eligibility
from scheduling.engine.gates import Gate, Gates, Reserve, Windows
from scheduling.engine.model import (
    MILLI,
    Ask,
    Earmark,
    Job,
    JobState,
    NodeState,
    Policy,
    Preempt,
    Project,
    Snapshot,
    Start,
)
from scheduling.engine.parties import Ledger, Parties, Party
from scheduling.engine.preference import Mix, Preference
from scheduling.engine.room import Bools, Room, Spot
from scheduling.engine.shares import shares_of
from scheduling.engine.stoppable import Stoppable
from scheduling.engine.views import Hold

_RELEASED = -1
"""Holds what a chosen victim leaves over: it is not free yet and given to nobody. No project has this number."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where a job is to start, on which model."""

    model: str
    spots: tuple[Spot, ...]


class Board:
    """``spots``: of what runs or stops. ``waiting``: queued jobs without a start, in the order inside a project.
    ``settled``: of them, those whose GPUs are set aside and only have to become free."""

    def __init__(self, snapshot: Snapshot, now: float, policy: Policy) -> None:
        self.now = now
        self.policy = policy
        self.projects: dict[int, Project] = {project.id: project for project in snapshot.projects}
        self.parties = Parties(snapshot.groups, snapshot.projects)
        self.room = Room(snapshot.nodes)
        self.eligible = Eligibility(self.room, snapshot.projects)
        self.ledger = Ledger(self.parties, snapshot)
        self.calendar = Calendar(self.room, now, policy)
        self._free: dict[str, int] = {}
        self.reserve = Reserve(snapshot.reserve, self.free)
        self.spots: dict[int, tuple[Spot, ...]] = {}
        self._place(sorted((job for job in snapshot.jobs if job.state is not JobState.QUEUED), key=lambda job: job.id))
        self.windows = Windows(snapshot.windows, self.calendar, now)
        self.gates = Gates(self.parties, self.ledger, self.projects)
        self.preference = Preference(Mix.of(job.ask for job in snapshot.jobs))
        self.amounts = _amounts(snapshot, self.room)
        self.requested = self._requested(snapshot)
        self.shares = shares_of(self.parties, self.amounts, self.requested, policy.usage_sensitivity)
        self.waiting: dict[int, Job] = {
            job.id: job
            for job in sorted((job for job in snapshot.jobs if job.state is JobState.QUEUED), key=_place_in_queue)
        }
        self._could_start: list[Job] | None = None
        self.start: list[Start] = []
        self.preempt: list[Preempt] = []
        self.told: set[int] = set()
        self.earmarks: dict[int, tuple[Earmark, ...]] = {}
        self.ahead = Ahead(self.calendar, self.reserve, self.told)
        self.spares = Spares(self.calendar)
        self._held: dict[int, list[tuple[Spot, Ask]]] = {}
        self.settled: set[int] = set()
        stoppable = [job for job in snapshot.jobs if self._is_stoppable(job)]
        self.stoppable = Stoppable(stoppable, self.ledger, self.parties, self.share, self.lost_gpu_seconds, self.spots)

    # What is so

    def share(self, party: Party, model: str) -> int:
        return self.shares[model][party.index] if model in self.shares else 0

    def free(self, model: str) -> int:
        """Milli-GPU of the model that are free on nodes that take something new."""
        if model not in self._free:
            self._free[model] = self.room.free_milli(model)
        return self._free[model]

    def closed(self, job: Job, model: str) -> list[Gate]:
        """The gates that the job does not pass on this model now."""
        found = self.gates.of_quota(job, model)
        if gate := self.reserve.gate(job, model):
            found.append(gate)
        if gate := self.windows.gate(job, model):
            found.append(gate)
        return found

    def has_spare(self, job: Job, model: str) -> bool:
        """Whether, quota aside, reserve and windows leave enough, for plans too."""
        return (
            self.reserve.gate(job, model) is None
            and self.windows.gate(job, model) is None
            and self.spares.delayed(job, model) is None
        )

    def place(self, job: Job, models: Iterable[str], room: Room) -> Chosen | None:
        """Where the whole job fits in this room on one of these models."""
        return self.place_on(job, self.eligible.rows(job) & self.of_models(models), room)

    def has_place(self, job: Job, model: str, room: Room) -> bool:
        """Whether ``place`` finds one on this model, without looking for the best."""
        rows = self.eligible.rows(job) & self.eligible.is_model(model)
        return int(room.fits(job.ask, job.project, rows).sum()) >= job.ask.nodes

    def place_on(self, job: Job, rows: Bools, room: Room) -> Chosen | None:
        """Where the whole job fits on these rows: one model, distinct nodes; nodes that failed it come last."""
        able = room.fits(job.ask, job.project, rows)
        if job.avoid and (chosen := self._among(job, able & ~self._avoided(job), room)):
            return chosen
        return self._among(job, able, room)

    def _among(self, job: Job, able: Bools, room: Room) -> Chosen | None:
        ask, rows = job.ask, np.flatnonzero(able)
        if len(rows) < ask.nodes:
            return None
        tried: set[int] = set()
        for first in self.preference.order(room, ask, rows) if ask.nodes > 1 else rows[:1]:
            model = int(room.row_model[first])
            if model in tried:
                continue
            tried.add(model)
            of_model = rows[room.row_model[rows] == model] if ask.nodes > 1 else rows
            if len(of_model) < ask.nodes:
                continue
            is_only = len(of_model) == ask.nodes == 1
            best = of_model if is_only else self.preference.best(room, ask, of_model, ask.nodes)
            spots = tuple(room.spot(int(row), ask, job.project) for row in best)
            return Chosen(room.models[int(room.row_model[best[0]])], spots)
        return None

    def of_models(self, models: Iterable[str]) -> Bools:
        masks = [self.eligible.is_model(model) for model in models]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(self.room.nodes), dtype=np.bool_)

    def _avoided(self, job: Job) -> Bools:
        return np.array([node.id in job.avoid for node in self.room.nodes], dtype=np.bool_)

    def own_room(self, job: Job) -> Room:
        """The room as this job may use it now, with what is set aside for it. Not to be changed."""
        view = self.calendar.view(job)
        if job.id not in self._held:
            return view
        room = view.copy()
        for spot, ask in self._held[job.id]:
            room.give_back(spot, ask, job.project)
        return room

    def earliest(self, job: Job, models: Iterable[str]) -> Hold | None:
        """The first moment at which running jobs' max runtimes make room for the job on one of these models."""
        rows = self.eligible.rows(job)
        plans = [self.calendar.earliest(job, rows & self.eligible.is_model(model)) for model in models]
        return min((plan for plan in plans if plan is not None), key=lambda plan: plan.start, default=None)

    def plan(self, job: Job, models: Iterable[str]) -> None:
        """Hold the earliest start at which the job has room and the reserve is kept; later jobs start only if it does
        not move. Without a finite one, or with as many plans on the model as there may be, nothing is held."""
        found: list[tuple[Hold, str]] = []
        for model in models:
            is_full = self.calendar.planned(model) >= self.policy.planned_starts
            plan = None if is_full else self.earliest(job, [model])
            start = NEVER if plan is None else self.ahead.kept_from(job, model, plan.start)
            if plan is not None and start < NEVER:
                found.append((replace(plan, start=start), model))
        if not found:
            return
        plan, model = min(found, key=lambda made: made[0].start)
        self.calendar.hold(plan)
        if not self.reserve.is_never_asked(job, model):
            spare = self.free(model) + self.ahead.ended_by(model, plan.start) - self.reserve.left(model)
            self.spares.add(plan, model, spare - job.ask.total_milli)

    def ready(self) -> list[Job]:
        """Waiting jobs that could start anywhere at all, in the order inside a project."""
        if self._could_start is None:
            self._could_start = [job for job in self.waiting.values() if self._could(job)]
        return [job for job in self._could_start if job.id in self.waiting and job.id not in self.settled]

    def _could(self, job: Job) -> bool:
        is_due = job.not_before is None or job.not_before <= self.now
        return is_due and self.projects[job.project].is_active and bool(self.eligible.holders(job))

    # What changes it

    def begin(self, job: Job, chosen: Chosen, after: Sequence[int] = ()) -> None:
        """Start the job, or set its GPUs aside until those before it have stopped."""
        for spot, ask in self._held.pop(job.id, ()):
            self.room.give_back(spot, ask, job.project)
            self.calendar.find_ends(spot)
        self.earmarks.pop(job.id, None)
        for spot in chosen.spots:
            self.room.take(spot, job.ask, job.project)
        self._count(job, chosen)
        self.start.append(Start(job.id, chosen.model, self.room.placement(chosen.spots), tuple(after)))
        if after:
            nodes = [self.room.nodes[spot.row].id for spot in chosen.spots]
            self.earmarks[job.id] = tuple(Earmark(job.id, node, job.ask.milli, self.now) for node in nodes)
        del self.waiting[job.id]

    def _count(self, job: Job, chosen: Chosen) -> None:
        self.ledger.add(job, chosen.model, protects=not job.is_preemptible)
        self.reserve.add(job, chosen.model)
        self.stoppable.changed(job.project, chosen.model)
        self.calendar.drop(job)
        self.spares.remove(job)
        self.spares.begin(job, chosen.model)
        self.ahead.changed(chosen.model)
        self.calendar.add(job, chosen.model, chosen.spots, self.calendar.end_of(job))
        self.changed()

    def keep(self, job: Job, marks: Sequence[Earmark], spots: Sequence[tuple[Spot, Ask]]) -> None:
        """Earmarks from an earlier decision go on: what is free of them is the job's alone."""
        for spot, ask in spots:
            self.room.take(spot, ask, job.project)
            self.calendar.set_aside(job, spot)
        self.earmarks[job.id] = tuple(marks)
        self._held[job.id] = list(spots)
        self.changed()

    def held_milli(self, job: Job) -> int:
        """What is set aside for the job and free already."""
        return sum(ask.total_milli for _spot, ask in self._held.get(job.id, ()))

    def settle(self, job: Job, chosen: Chosen) -> None:
        """What is set aside for the job and what is being freed suffice: it counts, and only has to wait. There its
        cores and memory, and the node if it wants it alone, are promised to it, too."""
        ask, model = job.ask, chosen.model
        promised = Ask(0, cpus=ask.cpus, memory_bytes=ask.memory_bytes, is_exclusive=ask.is_exclusive)
        for spot in chosen.spots:
            self.room.take(Spot(spot.row, (), 0), promised, job.project)
        self.settled.add(job.id)
        self.ledger.add(job, model, protects=not job.is_preemptible)
        self.reserve.add(job, model)
        self.stoppable.changed(job.project, model)

    def release(self, victim: Job, by: Job | None) -> None:
        """Tell a running job to stop. Its use ends here; its GPUs are not free for anybody but ``by``."""
        self.told.add(victim.id)
        self.ahead.changed(victim.gpu_model)
        self.preempt.append(Preempt(victim.id, by.id if by else None, self.lost_gpu_seconds(victim)))
        self.ledger.remove(victim, victim.gpu_model)
        self.reserve.add(victim, victim.gpu_model, -1)
        self.calendar.stop(victim, self.spots[victim.id])
        self.stoppable.remove(victim)

    def exchange(self, job: Job, chosen: Chosen, victims: Sequence[Job]) -> None:
        """Stop the victims and give the job its place; what they leave over stays held."""
        rows = sorted({spot.row for victim in victims for spot in self.spots[victim.id]})
        before = {row: self._left_on(row) for row in rows}
        self.spares.stop(victims, chosen.model)
        for victim in victims:
            for spot in self.spots[victim.id]:
                self.room.give_back(spot, victim.ask, victim.project)
            self.release(victim, job)
        self.begin(job, chosen, [victim.id for victim in victims])
        for row in rows:
            self._keep_over(row, *before[row])
        for victim in victims:
            for spot in self.spots[victim.id]:
                if spot.milli < MILLI:
                    # Until it is gone, who may share its device is its own affair.
                    terms = Ask(0, shares_device=victim.ask.shares_device)
                    self.room.take(Spot(spot.row, spot.columns, 0, has_host=False), terms, victim.project)
        alone = {spot.row for victim in victims if victim.ask.is_exclusive for spot in self.spots[victim.id]}
        for row in sorted(alone):
            self.room.take(Spot(row, (), 0), Ask(0, is_exclusive=True), _RELEASED)
        self.changed()

    def _left_on(self, row: int) -> tuple[list[int], int, int]:
        """Milli-GPU of each device, CPU and memory that are free."""
        room, host = self.room, int(self.room.host[row])
        return room.free[row].tolist(), int(room.cpus[host]), int(room.memory[host])

    def _keep_over(self, row: int, frees: list[int], cpus: int, memory: int) -> None:
        """Hold what is freer on this row than before: its victims have not stopped yet."""
        frees_now, cpus_now, memory_now = self._left_on(row)
        for column, free in enumerate(frees_now):
            over = free - max(0, frees[column])
            if over > 0:
                self.room.take(Spot(row, (column,), over, has_host=False), Ask(over), _RELEASED)
        rest = Ask(0, cpus=max(0, cpus_now - cpus), memory_bytes=max(0, memory_now - memory))
        self.room.take(Spot(row, (), 0), rest, _RELEASED)

    def changed(self) -> None:
        self._free.clear()

    def lost_gpu_seconds(self, job: Job) -> float:
        """Work since the last checkpoint, or the start; 0 where neither is known."""
        since = max((at for at in (job.started_at, job.last_checkpoint_at) if at is not None), default=self.now)
        return max(0.0, self.now - since) * job.ask.total_milli / MILLI

    # How it begins

    def _is_stoppable(self, job: Job) -> bool:
        """The minimum run time doubles with each interruption beyond the day's budget."""
        if job.state is not JobState.RUNNING or job.id in self.ledger.protected_jobs:
            return False
        if job.started_at is None:
            return True
        beyond = max(0, job.interruptions_today - self.policy.interruptions_per_day + 1)
        return self.now - job.started_at >= job.min_runtime_s * (1 << beyond)

    def _place(self, jobs: Sequence[Job]) -> None:
        self.spots = self.room.take_all_placed(jobs)
        for job in jobs:
            self.reserve.add(job, job.gpu_model)
        self.calendar.begin(jobs, self.spots)

    def _requested(self, snapshot: Snapshot) -> dict[str, list[int]]:
        """Running, stopping, and queued where an empty cluster could hold it; what is given goes before."""
        requested = {model: [0] * len(self.parties.all) for model in self.amounts}
        counted = {
            project.id: self.parties.projects[project.id].index
            for project in snapshot.projects
            if project.requested is None
        }
        for job in snapshot.jobs:
            if (at := counted.get(job.project)) is None:
                continue
            models = self.eligible.holders(job) if job.state is JobState.QUEUED else (job.gpu_model,)
            milli = job.ask.total_milli
            for model in models:
                if model in requested:
                    requested[model][at] += milli
        for project in snapshot.projects:
            for model, milli in (project.requested or {}).items():
                if model in requested:
                    requested[model][self.parties.projects[project.id].index] = milli
        return requested


def _amounts(snapshot: Snapshot, room: Room) -> dict[str, int]:
    """What is divided: GPUs on nodes that are not down, or what is given, less the reserve."""
    total: dict[str, int] = defaultdict(int, snapshot.capacity or {})
    if snapshot.capacity is None:
        for node in snapshot.nodes:
            for device in node.devices:
                total[device.gpu_model] += MILLI if node.state is not NodeState.DOWN else 0
    return {model: max(0, milli - snapshot.reserve.get(model, 0)) for model, milli in sorted(total.items())}


def _place_in_queue(job: Job) -> tuple[object, ...]:
    return -job.priority, job.queued_at, job.order, job.id
