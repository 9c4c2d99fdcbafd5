"""Short ways to write snapshots."""

from datetime import UTC, datetime, timedelta
from typing import Any

from scheduling.engine import (
    Decision,
    Device,
    Node,
    Policy,
    Project,
    QueuedJob,
    Quota,
    RunningJob,
    Snapshot,
    Start,
    Wait,
    decide,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
GIB = 2**30


def node(pk: int, gpus: int = 8, model: str = "h100", *, free: dict[int, int] | None = None, **fields: Any) -> Node:
    """Node ``pk`` named n<pk> with devices pk*100, pk*100+1, …; ``free`` overrides what is free of some, by index."""
    devices = tuple(
        Device(pk * 100 + i, model, (free or {}).get(i, 1000), frozenset({9} if i in (free or {}) else ()))
        for i in range(gpus)
    )
    values: dict[str, Any] = {
        "cpus": 64,
        "memory_bytes": 512 * GIB,
        "free_cpus": 64,
        "free_memory_bytes": 512 * GIB,
        **fields,
    }
    return Node(pk, f"n{pk}", devices, **values)


def job(pk: int, gpus: float = 1, project: int = 1, *, at: int | None = None, **fields: Any) -> QueuedJob:
    """Job ``pk``, queued ``at`` seconds after the start (by default in the order of ids)."""
    queued_at = NOW + timedelta(seconds=pk if at is None else at)
    return QueuedJob(pk, f"job {pk}", project, queued_at, round(gpus * 1000), **fields)


def running(pk: int, gpus: float, project: int = 1, model: str = "h100", **fields: Any) -> RunningJob:
    values: dict[str, Any] = {"is_preemptible": False, **fields}
    return RunningJob(pk, project, model, round(gpus * 1000), **values)


def project(pk: int = 1, **fields: Any) -> Project:
    values: dict[str, Any] = {"is_active": True, "sources": frozenset({"owned"}), **fields}
    return Project(pk, f"P{pk}", **values)


def quota(guaranteed: int, limit: int | None = None) -> Quota:
    return Quota(guaranteed * 1000, None if limit is None else limit * 1000)


def snapshot(nodes: list[Node], queue: list[QueuedJob], **fields: Any) -> Snapshot:
    """Projects 1 and 2 with 8 guaranteed H100 and no limit, unless told otherwise."""
    values: dict[str, Any] = {
        "projects": {1: project(1), 2: project(2)},
        "quotas": {(1, "h100"): quota(8), (2, "h100"): quota(8)},
        **fields,
    }
    return Snapshot(tuple(nodes), tuple(queue), **values)


def decided(nodes: list[Node], queue: list[QueuedJob], **fields: Any) -> Decision:
    return decide(snapshot(nodes, queue, **fields), NOW + timedelta(hours=1), Policy())


def start_of(decision: Decision, pk: int) -> Start:
    return next(start for start in decision.start if start.job == pk)


def wait_of(decision: Decision, pk: int) -> Wait:
    return next(wait for wait in decision.wait if wait.job == pk)


def started(decision: Decision) -> list[int]:
    return [start.job for start in decision.start]
