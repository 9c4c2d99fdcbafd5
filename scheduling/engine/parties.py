"""Projects and the groups above them as one tree, and what each of them uses."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from scheduling.engine.model import Entitlement, Group, Job, JobState, Project, Snapshot

ROOT = -1
"""The parent of what stands at the top."""


@dataclass(frozen=True, slots=True)
class Party:
    """A project or group; ``index`` is its place, ``parent`` the place of the group above or ``ROOT``."""

    index: int
    id: int
    name: str
    is_group: bool
    parent: int
    entitlement: Entitlement
    created_order: int

    def guaranteed(self, model: str) -> int:
        return self.entitlement.guaranteed.get(model, 0)

    def limit(self, model: str) -> int | None:
        return self.entitlement.limit.get(model)


class Parties:
    """All parties. ``chain`` of a project: its own place, then the groups above it, innermost first;
    ``below``: the projects under a party, itself if it is one."""

    def __init__(self, groups: Iterable[Group], projects: Iterable[Project]) -> None:
        groups, projects = sorted(groups, key=lambda g: g.id), sorted(projects, key=lambda p: p.id)
        at = {group.id: place for place, group in enumerate(groups)}
        self.all: list[Party] = []
        for group in groups:
            parent = ROOT if group.parent is None else at[group.parent]
            self.all.append(Party(len(self.all), group.id, group.name, True, parent, group.entitlement, 0))
        for project in projects:
            parent = ROOT if project.group is None else at[project.group]
            place = len(self.all)
            row = (place, project.id, project.name, False, parent, project.entitlement, project.created_order)
            self.all.append(Party(*row))
        self.projects: Mapping[int, Party] = {party.id: party for party in self.all if not party.is_group}
        self.chain: Mapping[int, tuple[Party, ...]] = {pk: tuple(self._up(p)) for pk, p in self.projects.items()}
        self.below: dict[int, list[int]] = defaultdict(list)
        for number, chain in self.chain.items():
            for party in chain:
                self.below[party.index].append(number)
        self.children: dict[int, list[Party]] = defaultdict(list)
        for party in self.all:
            self.children[party.parent].append(party)

    def top(self) -> list[Party]:
        return self.children[ROOT]

    def _up(self, party: Party) -> Iterable[Party]:
        yield party
        while party.parent != ROOT:
            party = self.all[party.parent]
            yield party


class Ledger:
    """Use by GPU model and party, and the part of it that is protected. Changed by ``add`` and ``remove`` alone,
    each of which makes it a new ``version``.

    A non-preemptible job that runs is protected, oldest start first, while it fits the guarantee at every level;
    others of them count as preemptible (a guarantee may have been cut).
    """

    def __init__(self, parties: Parties, snapshot: Snapshot) -> None:
        self._parties = parties
        count = len(parties.all)
        self._use: dict[str, list[int]] = defaultdict(lambda: [0] * count)
        self._protected: dict[str, list[int]] = defaultdict(lambda: [0] * count)
        self._non_preemptible: dict[str, list[int]] = defaultdict(lambda: [0] * count)
        self.cpus: dict[int, int] = defaultdict(int)
        self.memory_bytes: dict[int, int] = defaultdict(int)
        self.protected_jobs: set[int] = set()
        self.version = 0
        self._left: dict[tuple[int, str], tuple[float, float]] = {}
        live = [job for job in snapshot.jobs if job.state is not JobState.QUEUED]
        for job in sorted(live, key=lambda job: (job.started_at or 0, job.order, job.id)):
            protects = not job.is_preemptible and self.fits_guarantee(job, job.gpu_model)
            self.add(job, job.gpu_model, protects=protects)

    def use(self, party: Party, model: str) -> int:
        return self._use[model][party.index]

    def protected(self, party: Party, model: str) -> int:
        return self._protected[model][party.index]

    def non_preemptible(self, party: Party, model: str) -> int:
        """What jobs that are not preemptible use, protected or not."""
        return self._non_preemptible[model][party.index]

    def add(self, job: Job, model: str, *, protects: bool) -> None:
        """Count a job that runs, starts, or has its GPUs set aside."""
        if protects:
            self.protected_jobs.add(job.id)
        self._count(job, model, 1)

    def remove(self, job: Job, model: str) -> None:
        self._count(job, model, -1)
        self.protected_jobs.discard(job.id)

    def left(self, project: int, model: str) -> tuple[float, float]:
        """How much more of its guarantee and of its limit the project may use, by the closest level of each."""
        if (project, model) not in self._left:
            chain, use, protected = self._parties.chain[project], self._use[model], self._protected[model]
            limits = [(party.limit(model), use[party.index]) for party in chain]
            self._left[project, model] = (
                min(party.guaranteed(model) - protected[party.index] for party in chain),
                min((limit - used for limit, used in limits if limit is not None), default=float("inf")),
            )
        return self._left[project, model]

    def fits_guarantee(self, job: Job, model: str) -> bool:
        """Whether the guarantee of every level covers this job, too, beside what is protected."""
        return all(
            self.protected(party, model) + job.ask.total_milli <= party.guaranteed(model)
            for party in self._parties.chain[job.project]
        )

    def over_guarantee(self, job: Job, model: str) -> Iterator[tuple[Party, int]]:
        """The levels, from the project up, whose guarantee does not cover all such jobs and this one; and how far not.
        With less, those that lost their protection would come first."""
        for party in self._parties.chain[job.project]:
            missing = self.non_preemptible(party, model) + job.ask.total_milli - party.guaranteed(model)
            if missing > 0:
                yield party, missing

    def over_limit(self, job: Job, model: str) -> Iterator[tuple[Party, int]]:
        """The levels, from the project up, whose limit the job would pass; and how far."""
        for party in self._parties.chain[job.project]:
            limit = party.limit(model)
            if limit is not None and self.use(party, model) + job.ask.total_milli > limit:
                yield party, self.use(party, model) + job.ask.total_milli - limit

    def _count(self, job: Job, model: str, sign: int) -> None:
        milli = sign * job.ask.total_milli
        self._left.clear()
        self.version += 1
        use, protected = self._use[model], self._protected[model]
        for party in self._parties.chain[job.project]:
            use[party.index] += milli
            if not job.is_preemptible:
                self._non_preemptible[model][party.index] += milli
            if job.id in self.protected_jobs:
                protected[party.index] += milli
        self.cpus[job.project] += sign * job.ask.cpus * job.ask.nodes
        self.memory_bytes[job.project] += sign * job.ask.memory_bytes * job.ask.nodes
