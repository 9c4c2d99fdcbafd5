"""Who may have to stop, kept in the order in which they would."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduling.engine.model import Job
from scheduling.engine.parties import Ledger, Parties, Party
from scheduling.engine.room import Ints, Spot

Place = tuple[tuple[float, ...], int]
"""Where a project stands among those that give victims, and its id."""


@dataclass(slots=True)
class _OnModel:
    jobs: dict[int, list[Job]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[int, list[Job]] = field(default_factory=lambda: defaultdict(list))
    places: dict[int, Place] = field(default_factory=dict)
    milli: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    by_row: Ints | None = None


class Stoppable:
    """Jobs that run, are not protected, are past their minimum run time and not told to stop yet. ``lost`` is the work
    that each would lose; ``spots`` what each holds."""

    def __init__(
        self,
        jobs: Iterable[Job],
        ledger: Ledger,
        parties: Parties,
        share: Callable[[Party, str], int],
        lost: Callable[[Job], float],
        spots: Mapping[int, Sequence[Spot]],
    ) -> None:
        self._ledger = ledger
        self._parties = parties
        self._share = share
        self._spots = spots
        self._orders: dict[int, tuple[float, ...]] = {}
        self._models: dict[str, _OnModel] = defaultdict(_OnModel)
        for job in jobs:
            started = job.started_at if job.started_at is not None else float("-inf")
            self._orders[job.id] = job.priority, lost(job), -started, -job.order, job.id
        for job in sorted(jobs, key=self.order):
            on = self._models[job.gpu_model]
            on.jobs[job.project].append(job)
            self._sum(on, job, 1)
            for row in {spot.row for spot in spots[job.id]}:
                on.rows[row].append(job)
        for model, on in self._models.items():
            for project in on.jobs:
                self.changed(project, model)

    def order(self, job: Job) -> tuple[float, ...]:
        """Inside a project: lowest priority, least work lost, most recently started, id."""
        return self._orders[job.id]

    def of(self, model: str) -> Mapping[int, Sequence[Job]]:
        """By project, in order. Not to be changed."""
        return self._models[model].jobs

    def on(self, model: str, rows: Sequence[int]) -> Sequence[Job]:
        """Those that hold something on these rows, in order."""
        if len(rows) == 1:
            return self._models[model].rows.get(rows[0], [])
        found = {job.id: job for row in rows for job in self._models[model].rows.get(row, ())}
        return sorted(found.values(), key=self.order)

    def by_row(self, model: str, rows: int) -> Ints:
        """Milli-GPU that they hold on each row of so many. Not to be changed."""
        on = self._models[model]
        if on.by_row is None:
            held: Ints = np.zeros(rows, dtype=np.int64)
            for jobs in on.jobs.values():
                for spot in (spot for job in jobs for spot in self._spots[job.id]):
                    held[spot.row] += spot.milli * len(spot.columns)
            on.by_row = held
        return on.by_row

    def places(self, model: str) -> list[Place]:
        """Of each project that has victims on the model, its place among the others."""
        return list(self._models[model].places.values())

    def place(self, job: Job, model: str, lost: int) -> Place:
        """Least rank first, then most above the share, then the order of its first job; ``lost`` is what the project
        has lost to earlier victims."""
        party = self._parties.projects[job.project]
        above = self._ledger.use(party, model) - lost - self._share(party, model)
        return (party.entitlement.rank, -above, *self.order(job)), job.project

    def milli(self, party: Party, model: str) -> int:
        """What such jobs use below this party."""
        return self._models[model].milli[party.index]

    def remove(self, job: Job) -> None:
        """It is told to stop."""
        on = self._models[job.gpu_model]
        if self._orders.pop(job.id, None) is None:
            return
        on.jobs[job.project] = [other for other in on.jobs[job.project] if other.id != job.id]
        self._sum(on, job, -1)
        if on.by_row is not None:
            for spot in self._spots[job.id]:
                on.by_row[spot.row] -= spot.milli * len(spot.columns)
        for row in {spot.row for spot in self._spots[job.id]}:
            on.rows[row] = [other for other in on.rows[row] if other.id != job.id]
        self.changed(job.project, job.gpu_model)

    def _sum(self, on: _OnModel, job: Job, sign: int) -> None:
        for party in self._parties.chain[job.project]:
            on.milli[party.index] += sign * job.ask.total_milli

    def changed(self, project: int, model: str) -> None:
        """The project's use or victims are not what they were."""
        on = self._models[model]
        if on.jobs.get(project):
            on.places[project] = self.place(on.jobs[project][0], model, 0)
        else:
            on.places.pop(project, None)
