"""Live history as a workload that a replay can read: nodes as they are, jobs with the work they did."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Max, Q

from inventory.models import Device, DeviceState
from inventory.states import NodeState
from scheduling.engine import MILLI
from scheduling.models import Attempt, Job
from scheduling.states import LIVE, JobState

_MEBIBYTE = 2**20
_GOES_ON = frozenset({*LIVE, JobState.QUEUED, JobState.PAUSED})


def workload_nodes() -> list[dict[str, Any]]:
    """In the columns of a replay. A node with several models is a row per model, because a row has one."""
    rows = (
        Device.objects.exclude(Q(state=DeviceState.RETIRED) | Q(node__state=NodeState.REMOVED))
        .values("node__name", "node__cpus", "node__memory_bytes", "gpu_model__name")
        .annotate(gpus=Count("pk"))
        .order_by("node__name", "gpu_model__name")
    )
    models: dict[str, int] = defaultdict(int)
    for row in rows:
        models[row["node__name"]] += 1
    return [
        {
            "name": row["node__name"]
            if models[row["node__name"]] == 1
            else f"{row['node__name']}/{row['gpu_model__name']}",
            "gpu_model": row["gpu_model__name"],
            "gpus": row["gpus"],
            "cpus": row["node__cpus"],
            "memory_mb": row["node__memory_bytes"] // _MEBIBYTE,
        }
        for row in rows
    ]


def workload_jobs(since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Jobs submitted in ``[since, until)``, in the columns of a replay. ``duration_s`` is the work that was kept: the
    last run, and of those before it what was behind a checkpoint; None where the job is not over. A job that ended
    without ever running did no work and is left out."""
    jobs = (
        Job.objects.filter(submitted_at__gte=since, submitted_at__lt=until)
        .annotate(
            project_name=F("project__name"),
            models=ArrayAgg("gpu_models__name", filter=Q(gpu_models__isnull=False), default=[]),
        )
        .order_by("submitted_at", "pk")
    )
    found = list(jobs)
    worked = _work([job.pk for job in found])
    return [
        _row(job, None if job.state in _GOES_ON else worked[job.pk], since)
        for job in found
        if job.state in _GOES_ON or job.pk in worked
    ]


def _row(job: Any, duration_s: float | None, since: datetime) -> dict[str, Any]:
    return {
        "id": job.pk,
        "project": job.project_name,
        "submitted_at": round((job.submitted_at - since).total_seconds(), 3),
        "duration_s": None if duration_s is None else round(duration_s, 3),
        "gpus": job.milli_gpus // MILLI if job.milli_gpus % MILLI == 0 else job.milli_gpus / MILLI,
        "gpu_models": "|".join(sorted(job.models)),
        "priority": job.priority,
        "preemptible": "true" if job.is_preemptible else "false",
        "nodes_exact": job.nodes_exact,
        "cpus": job.cpus,
        "memory_mb": -(-job.memory_bytes // _MEBIBYTE),
        "max_runtime_s": job.max_runtime_s,
        "share_device": "true" if job.shares_device else "false",
    }


def _work(jobs: Iterable[int]) -> dict[int, float]:
    """Seconds by job that ran."""
    attempts = (
        Attempt.objects.filter(job__in=list(jobs), started_at__isnull=False, ended_at__isnull=False)
        .annotate(checkpoint_at=Max("members__newest_checkpoint_at"))
        .order_by("job_id", "number")
        .values_list("job_id", "started_at", "ended_at", "checkpoint_at")
    )
    whole: dict[int, float] = {}
    saved: dict[int, float] = defaultdict(float)
    for job, started_at, ended_at, checkpoint_at in attempts:
        if started_at is None or ended_at is None:
            continue
        whole[job] = saved[job] + (ended_at - started_at).total_seconds()
        saved[job] += max(0.0, ((checkpoint_at or started_at) - started_at).total_seconds())
    return whole
