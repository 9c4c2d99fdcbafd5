"""Apply what a decision starts: attempts, members and device allocations, all or nothing for each job."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Max, prefetch_related_objects

from inventory.models import GpuModel, Node, PoolKind
from inventory.states import NodeState
from kernel import clock
from kernel.states import transition
from kernel.unit import lock
from projects.models import Project
from projects.states import ProjectState
from quotas.selectors import pools_open_at
from scheduling.engine import Decision, QueuedJob, Snapshot, Start
from scheduling.engine.quota import Ledger
from scheduling.launchers import push_soon
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Job
from scheduling.snapshot import load_projects, load_quotas
from scheduling.states import JobState

_CLEARED = ["reason", "reason_code", "reason_data", "not_before"]


@dataclass(frozen=True, slots=True)
class Applied:
    """Jobs that started, and jobs whose start no longer fitted."""

    started: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Locked:
    projects: Mapping[int, Project]
    jobs: Mapping[int, Job]
    nodes: Mapping[int, Node]
    open_to: Mapping[int, frozenset[int]]
    """By dedicated pool: who may use it."""


def starts_apply(snapshot: Snapshot, decision: Decision, now: datetime) -> Applied:
    """Start what still fits, in the decision's order; drop the rest. Locks projects, jobs and nodes, and reads
    project state, job state, node state, pool access and quota again under them (REG2). Inside the leader's
    transaction."""
    if not decision.start:
        return Applied()
    queued = {job.id: job for job in snapshot.queue}
    wanted = {start.job: start for start in decision.start}
    project_ids = {queued[pk].project for pk in wanted}
    node_ids = {node for start in decision.start for node in start.placement}
    rows = lock({Project: project_ids, Job: wanted, Node: node_ids}, must_exist=False)
    # Waiting for the locks took time: what came into force meanwhile counts.
    at = max(now, clock.now())
    locked = _Locked(rows[Project], rows[Job], rows[Node], pools_open_at(at))
    prefetch_related_objects(list(locked.nodes.values()), "pool")
    models = dict(GpuModel.objects.values_list("name", "pk"))
    names = {pk: name for name, pk in models.items()}
    fresh = replace(
        snapshot,
        projects=load_projects(project_ids, at),
        quotas=load_quotas(project_ids, at, names),
    )
    ledger, fitting = Ledger(fresh), []
    for start in decision.start:
        job = queued[start.job]
        if _still_fits(start, locked) and _is_within(ledger, fresh, start, job):
            ledger.add(job, start.gpu_model)
            fitting.append(start)
    _start(fitting, locked, models, at)
    started = tuple(start.job for start in fitting)
    return Applied(started, tuple(pk for pk in wanted if pk not in started))


def _still_fits(start: Start, locked: _Locked) -> bool:
    """Whether job, project and nodes are as the decision saw them."""
    job = locked.jobs.get(start.job)
    if job is None or job.state != JobState.QUEUED:
        return False
    project = locked.projects.get(job.project_id)
    if project is None or project.state != ProjectState.ACTIVE:
        return False
    nodes = [locked.nodes.get(node) for node in start.placement]
    return all(
        node is not None and node.state == NodeState.UP and _is_open(node, job.project_id, locked) for node in nodes
    )


def _is_open(node: Node, project_id: int, locked: _Locked) -> bool:
    is_shared = node.pool.kind == PoolKind.SHARED
    return is_shared or project_id in locked.open_to.get(node.pool_id, frozenset())


def _is_within(ledger: Ledger, fresh: Snapshot, start: Start, job: QueuedJob) -> bool:
    """Whether the quota as it is now allows the start, with those before it."""
    if start.gpu_model not in ledger.models(job):
        return False
    return ledger.refusal(job, fresh.projects[job.project], start.gpu_model) is None


def _start(starts: Sequence[Start], locked: _Locked, models: Mapping[str, int], now: datetime) -> None:
    """Attempts, members and allocations in one statement each; the database refuses a device given twice."""
    if not starts:
        return
    numbers = dict(
        Attempt.objects.filter(job__in=[start.job for start in starts]).values_list("job_id").annotate(n=Max("number"))
    )
    attempts = Attempt.objects.bulk_create(
        Attempt(
            job=locked.jobs[start.job],
            number=numbers.get(start.job, 0) + 1,
            launcher=_launcher(start, locked),
            gpu_model_id=models[start.gpu_model],
            max_runtime_s=allowed_runtime_s(locked.jobs[start.job], [locked.nodes[node] for node in start.placement]),
            assigned_at=now,
        )
        for start in starts
    )
    members = AttemptMember.objects.bulk_create(
        AttemptMember(attempt=attempt, node=locked.nodes[node], rank=rank, launch_key=uuid.uuid4())
        for attempt, start in zip(attempts, starts, strict=True)
        for rank, node in enumerate(start.placement)
    )
    placements = [devices for start in starts for devices in start.placement.values()]
    DeviceAllocation.objects.bulk_create(
        DeviceAllocation(member=member, device_id=device, milli=milli, allocated_at=now)
        for member, devices in zip(members, placements, strict=True)
        for device, milli in sorted(devices.items())
    )
    for attempt in attempts:
        _assign(attempt)
    by_launcher: dict[str, list[AttemptMember]] = {}
    for member in members:
        by_launcher.setdefault(member.attempt.launcher, []).append(member)
    for launcher, some in by_launcher.items():
        push_soon(launcher, *some)


def allowed_runtime_s(job: Job, nodes: Sequence[Node]) -> int | None:
    """How long an attempt of the job may run on these nodes: its max runtime and every pool's bound hold."""
    bounds = [job.max_runtime_s, *(node.pool.max_runtime_bound_s for node in nodes)]
    return min((bound for bound in bounds if bound is not None), default=None)


def _assign(attempt: Attempt) -> None:
    job = attempt.job
    job.reason, job.reason_code, job.reason_data, job.not_before = "", "", {}, None
    transition(job, "assign", actor=None, data={"attempt": attempt.number}, fields=_CLEARED)


def _launcher(start: Start, locked: _Locked) -> str:
    """All nodes of a placement are of pools with one launcher; the first speaks for it."""
    return str(locked.nodes[next(iter(start.placement))].pool.launcher)
