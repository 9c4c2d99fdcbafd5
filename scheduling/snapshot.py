"""Load what the scheduler's engine sees from the database. Reads only."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, Sum

from inventory.models import Device as DeviceRow
from inventory.models import DeviceState, GpuModel, PoolKind, Source
from inventory.models import Node as NodeRow
from inventory.selectors import capacity_at
from inventory.states import NodeState
from projects.models import DataClass
from projects.models import Project as ProjectRow
from projects.states import ProjectState
from quotas.models import Resource
from quotas.selectors import pools_open_at, quotas_at
from scheduling.engine import MILLI, Device, Node, Project, QueuedJob, Quota, RunningJob, Snapshot
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Job
from scheduling.states import AttemptState, Cause, JobState

AVOID_FOR = timedelta(hours=1)
"""How long a job avoids a node that failed it."""
_FAULTS = (Cause.NODE_LOST, Cause.HARDWARE, Cause.LAUNCH_FAILED)
_GONE = (NodeState.DOWN, NodeState.MAINTENANCE)
_SOURCES = {
    DataClass.OPEN: frozenset(Source),
    DataClass.INTERNAL: frozenset({Source.OWNED, Source.HYBRID, Source.RENTED}),
    DataClass.RESTRICTED: frozenset({Source.OWNED}),
}


def load_snapshot(at: datetime) -> Snapshot:
    """Nodes, queue, running jobs and quotas as they are now; reads a dozen statements, whatever their number."""
    names = dict(GpuModel.objects.values_list("pk", "name"))
    queue = _queue(at)
    running = _running(names)
    project_ids = {job.project for job in queue} | {job.project for job in running}
    return Snapshot(
        nodes=_nodes(names, at),
        queue=queue,
        running=running,
        projects=load_projects(project_ids, at),
        quotas=load_quotas(project_ids, at, names),
        reserve_milli={
            names[pk]: capacity.reserve * MILLI for pk, capacity in capacity_at(at).items() if capacity.reserve
        },
    )


def load_projects(project_ids: Iterable[int], at: datetime) -> dict[int, Project]:
    """What the engine needs of these projects: state, data class, limits of CPU and memory."""
    ids = list(project_ids)
    limits = {(project, resource): quota.limit for (project, resource, _model), quota in quotas_at(at, ids).items()}
    return {
        row.pk: Project(
            id=row.pk,
            name=row.name,
            is_active=row.state == ProjectState.ACTIVE,
            sources=frozenset(str(source) for source in _SOURCES[DataClass(row.data_class)]),
            cpu_limit=limits.get((row.pk, Resource.CPU)),
            memory_limit_bytes=limits.get((row.pk, Resource.MEMORY)),
        )
        for row in ProjectRow.objects.filter(pk__in=ids)
    }


def load_quotas(project_ids: Iterable[int], at: datetime, names: dict[int, str]) -> dict[tuple[int, str], Quota]:
    """GPU quotas in force, by project and name of the model."""
    return {
        (project, names[model]): Quota(quota.guaranteed * MILLI, None if quota.limit is None else quota.limit * MILLI)
        for (project, resource, model), quota in quotas_at(at, list(project_ids)).items()
        if resource == Resource.GPU and model is not None
    }


def _queue(at: datetime) -> tuple[QueuedJob, ...]:
    rows = Job.objects.filter(state=JobState.QUEUED).annotate(
        models=ArrayAgg("gpu_models__name", filter=Q(gpu_models__isnull=False), default=[])
    )
    avoid = _avoided(at)
    return tuple(
        QueuedJob(
            id=job.pk,
            name=job.name,
            project=job.project_id,
            queued_at=job.queued_at,
            milli_gpus=job.milli_gpus,
            nodes=job.nodes_exact or 1,
            gpu_models=frozenset(job.models),
            is_preemptible=job.is_preemptible,
            cpus=job.cpus,
            memory_bytes=job.memory_bytes,
            max_runtime_s=job.max_runtime_s,
            not_before=job.not_before,
            avoid=frozenset(avoid[job.pk]),
        )
        for job in rows
    )


def _avoided(at: datetime) -> dict[int, set[int]]:
    """By queued job: the nodes on which a recent attempt failed through no fault of the job."""
    failed = AttemptMember.objects.filter(
        attempt__job__state=JobState.QUEUED, attempt__cause__in=_FAULTS, attempt__ended_at__gte=at - AVOID_FOR
    )
    avoid: dict[int, set[int]] = defaultdict(set)
    for job, node in failed.values_list("attempt__job_id", "node_id"):
        avoid[job].add(node)
    return avoid


def _running(names: dict[int, str]) -> tuple[RunningJob, ...]:
    """Every job with a live attempt, whatever is known of it: releasing is not free."""
    return tuple(
        RunningJob(
            id=attempt.job_id,
            project=attempt.job.project_id,
            gpu_model=names[attempt.gpu_model_id],
            milli_gpus=attempt.job.milli_gpus,
            is_preemptible=attempt.job.is_preemptible,
            cpus=attempt.job.cpus * (attempt.job.nodes_exact or 1),
            memory_bytes=attempt.job.memory_bytes * (attempt.job.nodes_exact or 1),
        )
        for attempt in Attempt.objects.exclude(state=AttemptState.ENDED).select_related("job").order_by("pk")
    )


def _nodes(names: dict[int, str], at: datetime) -> tuple[Node, ...]:
    open_to = pools_open_at(at)
    parts = _parts()
    taken = _taken()
    devices: dict[int, list[Device]] = defaultdict(list)
    for row in DeviceRow.objects.filter(state=DeviceState.OK).order_by("node_id", "index", "pk"):
        free = MILLI - sum(milli for milli, _project in parts[row.pk])
        projects = frozenset(project for _milli, project in parts[row.pk])
        devices[row.node_id].append(Device(row.pk, names[row.gpu_model_id], free, projects))
    rows = NodeRow.objects.exclude(state=NodeState.REMOVED).select_related("pool").order_by("pk")
    return tuple(
        _node(
            row,
            tuple(devices[row.pk]),
            taken.get(row.pk, (0, 0)),
            open_to.get(row.pool_id, frozenset()) if row.pool.kind == PoolKind.DEDICATED else None,
        )
        for row in rows
    )


def _node(row: NodeRow, devices: tuple[Device, ...], taken: tuple[int, int], holders: frozenset[int] | None) -> Node:
    return Node(
        id=row.pk,
        name=row.name,
        devices=devices,
        cpus=row.cpus,
        memory_bytes=row.memory_bytes,
        free_cpus=row.cpus - taken[0],
        free_memory_bytes=row.memory_bytes - taken[1],
        can_start=row.state == NodeState.UP,
        counts=row.state not in _GONE,
        source=row.source,
        holders=holders,
        max_runtime_bound_s=row.pool.max_runtime_bound_s,
    )


def _parts() -> dict[int, list[tuple[int, int]]]:
    """By device: milli and project of every live allocation."""
    parts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    live = DeviceAllocation.objects.filter(released_at__isnull=True)
    for device, milli, project in live.values_list("device_id", "milli", "member__attempt__job__project_id"):
        parts[device].append((milli, project))
    return parts


def _taken() -> dict[int, tuple[int, int]]:
    """By node: CPUs and bytes of memory that live members hold."""
    live = AttemptMember.objects.exclude(state=AttemptState.ENDED).values("node_id")
    sums = live.annotate(cpus=Sum("attempt__job__cpus"), memory_bytes=Sum("attempt__job__memory_bytes"))
    return {row["node_id"]: (int(row["cpus"] or 0), int(row["memory_bytes"] or 0)) for row in sums}
