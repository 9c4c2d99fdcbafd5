"""A model cluster that does what decisions say: starts, stops, releases, and everything else that happens to one."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from scheduling.engine import (
    Ask,
    Decision,
    Device,
    Earmark,
    Entitlement,
    Group,
    Job,
    JobState,
    Node,
    NodeState,
    Policy,
    Project,
    Snapshot,
    Window,
    decide,
)
from scheduling.engine.model import NONE
from scheduling.tests.engine.laws import Laws

GPUS = 1000


def node(number: int, gpus: int, model: str = "a", **fields: Any) -> Node:
    devices = tuple(Device(number * 100 + index, model) for index in range(gpus))
    return Node(number, f"n{number}", devices, **fields)


def project(number: int, guaranteed: int = 0, limit: int | None = None, **fields: Any) -> Project:
    """Of model ``a``; ``weight`` and ``rank`` go where they belong."""
    entitlement = Entitlement(
        {"a": guaranteed * GPUS},
        {} if limit is None else {"a": limit * GPUS},
        weight=Fraction(fields.pop("weight", 1)),
        rank=fields.pop("rank", 0),
    )
    return Project(number, f"q{number}", entitlement=entitlement, **fields)


@dataclass(slots=True)
class World:
    nodes: dict[int, Node]
    projects: dict[int, Project]
    groups: dict[int, Group] = field(default_factory=dict)
    reserve: dict[str, int] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    policy: Policy = field(default_factory=Policy)
    jobs: dict[int, Job] = field(default_factory=dict)
    earmarks: tuple[Earmark, ...] = ()
    now: float = 0
    decided: int = 0
    stops: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    """How often a job was stopped for a newcomer."""
    _last: int = 0
    _began: int = 0

    @staticmethod
    def of(nodes: Iterable[Node], projects: Iterable[Project], groups: Iterable[Group] = (), **fields: Any) -> "World":
        return World(
            {node.id: node for node in nodes},
            {project.id: project for project in projects},
            {group.id: group for group in groups},
            **fields,
        )

    def snapshot(self) -> Snapshot:
        return Snapshot(
            nodes=tuple(self.nodes.values()),
            jobs=tuple(self.jobs.values()),
            projects=tuple(self.projects.values()),
            groups=tuple(self.groups.values()),
            reserve=self.reserve,
            earmarks=self.earmarks,
            windows=self.windows,
        )

    def step(self) -> Decision:
        """One decision, held to every law, then done."""
        snapshot = self.snapshot()
        before = repr(snapshot)
        decision = decide(snapshot, self.now, self.policy)
        assert repr(snapshot) == before, "the input was changed"
        Laws(snapshot, self.now, self.policy, decision).check()
        self.decided += 1
        if self.decided % 4 == 0:
            assert decide(self._shuffled(snapshot), self.now, self.policy) == decision, "the order of the input matters"
        self._apply(decision)
        return decision

    # What happens

    def submit(self, owner: int, ask: Ask, **fields: Any) -> int:
        self._last += 1
        number = self._last
        values = {"queued_at": self.now, "order": number, **fields}
        self.jobs[number] = Job(number, f"j{number}", owner, ask, **values)
        return number

    def end(self, number: int) -> None:
        """It is over, however: done, failed for good, cancelled."""
        del self.jobs[number]

    def queue_again(self, number: int, **fields: Any) -> None:
        """It stopped, or its launch failed: back at its old place."""
        job = self.jobs[number]
        self.jobs[number] = replace(
            job,
            state=JobState.QUEUED,
            placement=NONE,
            gpu_model="",
            started_at=None,
            last_checkpoint_at=None,
            member_lost_at=None,
            order=number,
            **fields,
        )

    def save(self, number: int) -> None:
        self.jobs[number] = replace(self.jobs[number], last_checkpoint_at=self.now)

    def set_state(self, number: int, state: NodeState) -> None:
        """A gang on a node that goes down has lost a member."""
        self.nodes[number] = replace(self.nodes[number], state=state)
        for job in list(self.jobs.values()):
            if state is NodeState.DOWN and number in job.placement and job.member_lost_at is None:
                self.jobs[job.id] = replace(job, member_lost_at=self.now)

    def grant(self, number: int, entitlement: Entitlement) -> None:
        self.projects[number] = replace(self.projects[number], entitlement=entitlement)

    def release_all(self) -> None:
        """Every stop comes to its end."""
        for number in self.numbers(JobState.STOPPING):
            self.queue_again(number)

    def numbers(self, *states: JobState) -> list[int]:
        return [job.id for job in self.jobs.values() if job.state in states]

    def _apply(self, decision: Decision) -> None:
        for start in decision.start:
            if not start.after:
                self._began += 1
                self.jobs[start.job] = replace(
                    self.jobs[start.job],
                    state=JobState.RUNNING,
                    placement=start.placement,
                    gpu_model=start.gpu_model,
                    started_at=self.now,
                    order=self._began,
                )
        for preempt in decision.preempt:
            job = self.jobs[preempt.job]
            self.stops[job.id, preempt.by] += 1
            self.jobs[job.id] = replace(job, state=JobState.STOPPING, interruptions_today=job.interruptions_today + 1)
        self.earmarks = decision.earmarks

    def _shuffled(self, snapshot: Snapshot) -> Snapshot:
        drawn = random.Random(self.decided)

        def mixed(rows: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(drawn.sample(rows, len(rows)))

        return replace(
            snapshot,
            nodes=mixed(snapshot.nodes),
            jobs=mixed(snapshot.jobs),
            projects=mixed(snapshot.projects),
            groups=mixed(snapshot.groups),
            earmarks=mixed(snapshot.earmarks),
            windows=mixed(snapshot.windows),
        )
