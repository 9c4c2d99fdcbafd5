"""Does what a waiting job is said to need, exactly that, and looks whether the job starts then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scheduling.engine import (
    MILLI,
    Decision,
    Device,
    Entitlement,
    Job,
    JobState,
    Node,
    NodeState,
    Policy,
    Project,
    Snapshot,
    Wait,
    decide,
)

Gate = Mapping[str, Any]


def done(snapshot: Snapshot, now: float, decision: Decision) -> Snapshot:
    """The decision carried out: starts run, for which victims are gone. This is what its reasons are about."""
    starts = {start.job: start for start in decision.start}
    gone = {preempt.job for preempt in decision.preempt}
    jobs = [
        replace(
            job,
            state=JobState.RUNNING,
            placement=starts[job.id].placement,
            gpu_model=starts[job.id].gpu_model,
            started_at=now,
        )
        if job.id in starts
        else job
        for job in snapshot.jobs
        if job.id not in gone
    ]
    marks = tuple(mark for mark in decision.earmarks if mark.job not in starts)
    return replace(snapshot, jobs=tuple(jobs), earmarks=marks)


def _as_if_it_ran(job: Job, snapshot: Snapshot) -> Job:
    """Whose GPUs are set aside counts in use; but it takes nothing from who is alone in the queue."""
    node = next(mark.node for mark in snapshot.earmarks if mark.job == job.id)
    model = next(other for other in snapshot.nodes if other.id == node).devices[0].gpu_model
    return replace(job, state=JobState.RUNNING, gpu_model=model, max_runtime_s=None)


@dataclass(slots=True)
class Opening:
    """One waiting job alone at the head of the queue, and what happens to the cluster."""

    snapshot: Snapshot
    now: float
    policy: Policy
    wait: Wait
    settled: frozenset[int] = frozenset()
    job: Job = field(init=False)

    def __post_init__(self) -> None:
        """Others in the queue may come first, and so may their earmarks: they are not here. ``settled`` only wait for
        what stops."""
        self.job = next(job for job in self.snapshot.jobs if job.id == self.wait.job)
        others = [job for job in self.snapshot.jobs if job.id != self.job.id]
        running = [job for job in others if job.state is not JobState.QUEUED]
        settled = [_as_if_it_ran(job, self.snapshot) for job in others if job.id in self.settled]
        self._keep([self.job, *running, *settled])

    def starts(self, now: float | None = None) -> bool:
        """Now, or once victims have stopped for it."""
        decision = decide(self.snapshot, self.now if now is None else now, self.policy)
        return self.job.id in {start.job for start in decision.start}

    def do_all(self) -> None:
        """Whatever ``needs`` names."""
        needs = self.wait.needs
        for gate in needs.get("gates", ()):
            self.do(gate)
        if (special := _SPECIAL.get(self.wait.reason)) is not None:
            special(self, needs)

    def do(self, gate: Gate) -> None:
        _GATES[gate["kind"]](self, gate)

    def pass_to(self, moment: float) -> None:
        """The clock is set; what stops or has a max runtime that ends until then has ended. Who has outrun it already
        takes the grace time, too."""
        self._keep([job for job in self.snapshot.jobs if self._end(job) > moment])
        self.now = moment

    def _end(self, job: Job) -> float:
        if job.state is JobState.STOPPING:
            return self.now + self.policy.grace_s
        if job.state is JobState.QUEUED or job.max_runtime_s is None:
            return float("inf")
        end = (self.now if job.started_at is None else job.started_at) + job.max_runtime_s
        return end if end > self.now else self.now + self.policy.grace_s

    # What opens a gate

    def _entitle(self, gate: Gate, name: str) -> None:
        """One more amount of a project or group."""
        milli = round((gate["bound"] + gate["missing"]) * MILLI)

        def raised(entitlement: Entitlement) -> Entitlement:
            changed: dict[str, Any] = {name: {**getattr(entitlement, name), gate["gpu_model"]: milli}}
            return replace(entitlement, **changed)

        of_projects, of_groups = list(self.snapshot.projects), list(self.snapshot.groups)
        parties: list[Any] = list(of_projects if gate["level"] == "project" else of_groups)
        named = [
            replace(party, entitlement=raised(party.entitlement)) if party.name == gate["name"] else party
            for party in parties
        ]
        assert gate["name"] in {party.name for party in parties}
        if gate["level"] == "project":
            self.snapshot = replace(self.snapshot, projects=tuple(named))
        else:
            self.snapshot = replace(self.snapshot, groups=tuple(named))

    def guarantee(self, gate: Gate) -> None:
        self._entitle(gate, "guaranteed")

    def limit(self, gate: Gate) -> None:
        self._entitle(gate, "limit")

    def resource(self, gate: Gate) -> None:
        name = {"cpus": "cpu_limit", "memory_bytes": "memory_limit_bytes"}[gate["resource"]]
        self.change_project(**{name: gate["limit"] + gate["missing"]})

    def reserve(self, gate: Gate) -> None:
        model = gate["gpu_model"]
        less = self.snapshot.reserve[model] - round(gate["missing"] * MILLI)
        self.snapshot = replace(self.snapshot, reserve={**self.snapshot.reserve, model: max(0, less)})

    def window(self, gate: Gate) -> None:
        left = tuple(window for window in self.snapshot.windows if window.id not in gate["windows"])
        assert len(left) == len(self.snapshot.windows) - len(gate["windows"])
        self.snapshot = replace(self.snapshot, windows=left)

    def node_state(self, gate: Gate) -> None:
        assert len(gate["nodes"]) == gate["missing_nodes"]
        for name in gate["nodes"]:
            assert self._node(name).state is not NodeState.UP
            self._put(replace(self._node(name), state=NodeState.UP))

    def no_room(self, gate: Gate) -> None:
        """New GPUs, cores and bytes are as good as freed ones, and nothing else changes."""
        assert gate["nodes_lacking"]
        for lack in gate["nodes_lacking"]:
            node = self._node(lack["node"])
            assert any(lack[name] for name in lack if name != "node")
            memory_bytes = None if node.memory_bytes is None else node.memory_bytes + lack["missing_memory_bytes"]
            first = 1_000_000 + 1000 * node.id
            more = tuple(Device(first + at, self.wait.needs["gpu_model"]) for at in range(lack["missing_gpus"]))
            self._put(
                replace(
                    node,
                    devices=node.devices + more,
                    cpus=None if node.cpus is None else node.cpus + lack["missing_cpus"],
                    memory_bytes=memory_bytes,
                )
            )
            if lack["is_taken"]:
                self._keep([job for job in self.snapshot.jobs if node.id not in job.placement])

    def behind_plan(self, gate: Gate) -> None:
        """Its owner is not in the queue here."""
        assert gate["job"] != self.job.id

    # Reasons that are no gates

    def no_quota(self, needs: Gate) -> None:
        models = frozenset(needs["gpu_models"])
        self.change_project(gpu_models=models or None)

    def no_such_node(self, needs: Gate) -> None:
        """As many nodes as it asks for, with what it asks for."""
        model = needs.get("gpu_model") or (needs["gpu_models"] or ["a"])[0]
        for at in range(needs["nodes"]):
            number = 2_000_000 + 100 * at
            gpus = -(-needs["gpus_per_node"] // 1)
            devices = tuple(Device(number + device, model) for device in range(max(1, int(gpus))))
            self._put(
                Node(
                    number,
                    f"new{at}",
                    devices,
                    cpus=needs.get("cpus_per_node", 0),
                    memory_bytes=needs.get("memory_bytes_per_node", 0),
                    gpu_memory_bytes=needs.get("gpu_memory_bytes", 0),
                    interconnect=needs.get("interconnect", ""),
                    max_runtime_bound_s=needs.get("max_runtime_s", 0),
                )
            )

    def project_state(self, _needs: Gate) -> None:
        self.change_project(is_active=True)

    def backoff(self, _needs: Gate) -> None:
        self._keep([replace(job, not_before=None) if job.id == self.job.id else job for job in self.snapshot.jobs])

    def releasing(self, _needs: Gate) -> None:
        marked = {mark.node for mark in self.snapshot.earmarks if mark.job == self.job.id}
        assert any(job.state is JobState.STOPPING and marked & set(job.placement) for job in self.snapshot.jobs)
        self._keep([job for job in self.snapshot.jobs if job.state is not JobState.STOPPING])

    # Parts of the snapshot

    def change_project(self, **fields: Any) -> None:
        def changed(project: Project) -> Project:
            return replace(project, **fields) if project.id == self.job.project else project

        self.snapshot = replace(self.snapshot, projects=tuple(map(changed, self.snapshot.projects)))

    def _node(self, name: str) -> Node:
        return next(node for node in self.snapshot.nodes if node.name == name)

    def _put(self, node: Node) -> None:
        others = tuple(other for other in self.snapshot.nodes if other.id != node.id)
        self.snapshot = replace(self.snapshot, nodes=(*others, node))

    def _keep(self, jobs: Sequence[Job]) -> None:
        self.snapshot = replace(self.snapshot, jobs=tuple(jobs))


_GATES = {
    "guarantee": Opening.guarantee,
    "limit": Opening.limit,
    "resource": Opening.resource,
    "reserve": Opening.reserve,
    "window": Opening.window,
    "node_state": Opening.node_state,
    "no_room": Opening.no_room,
    "behind_plan": Opening.behind_plan,
}
_SPECIAL = {
    "no_quota": Opening.no_quota,
    "no_such_node": Opening.no_such_node,
    "project_state": Opening.project_state,
    "backoff": Opening.backoff,
    "releasing": Opening.releasing,
}
KINDS = frozenset(_GATES) | frozenset(_SPECIAL) | {"next_decision"}


def untrue(snapshot: Snapshot, now: float, policy: Policy, decision: Decision) -> str | None:
    """What is not so of what waiting jobs are told; None if all of it is true. Of jobs that are alike and told the
    same, one is looked at."""
    after, jobs = done(snapshot, now, decision), {job.id: job for job in snapshot.jobs}
    told = {(jobs[wait.job].project, jobs[wait.job].ask, wait.text, wait.until): wait for wait in decision.wait}
    settled = frozenset(wait.job for wait in decision.wait if wait.reason == "releasing")
    for wait in told.values():
        opening = Opening(after, now, policy, wait, settled)
        opening.do_all()
        if not opening.starts():
            return f"{opening.job.name} does not start when all is open: {wait}"
        if wait.until is not None:
            later = Opening(after, now, policy, wait, settled)
            later.pass_to(wait.until)
            if not later.starts():
                return f"{later.job.name} does not start at {wait.until}: {wait}"
    return None
