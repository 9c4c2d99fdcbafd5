"""Short ways to write a snapshot by hand, and to find what a decision says of one job."""

from typing import Any

from scheduling.engine import Ask, Decision, Job, JobState, Node, Policy, Project, Snapshot, Wait, decide
from scheduling.tests.engine.world import project


def a_job(number: int, ask: Ask | None = None, owner: int = 1, **fields: Any) -> Job:
    values = {"is_preemptible": True, "order": number, **fields}
    return Job(number, f"job {number}", owner, ask or Ask(1000), **values)


def runs(number: int, at: int, devices: int, owner: int = 1, **fields: Any) -> Job:
    """On the first devices of a node."""
    placement = {at: {at * 100 + index: 1000 for index in range(devices)}}
    values = {"state": JobState.RUNNING, "gpu_model": "a", "placement": placement, **fields}
    return a_job(number, Ask(devices * 1000), owner, **values)


def decided(
    nodes: list[Node], jobs: list[Job], projects: list[Project] | None = None, now: float = 0, **fields: Any
) -> Decision:
    policy = fields.pop("policy", Policy())
    return decide(Snapshot(tuple(nodes), tuple(jobs), tuple(projects or [project(1)]), **fields), now, policy)


def wait_of(decision: Decision, number: int) -> Wait:
    return next(wait for wait in decision.wait if wait.job == number)


def started(decision: Decision) -> dict[int, list[int]]:
    """Nodes by job that starts now."""
    return {start.job: sorted(start.placement) for start in decision.start if not start.after}


def gate_of(decision: Decision, number: int) -> dict[str, Any]:
    """The farthest gate."""
    wait = wait_of(decision, number)
    gates: list[dict[str, Any]] = wait.needs["gates"]
    return next(gate for gate in gates if gate["kind"] == wait.reason)
