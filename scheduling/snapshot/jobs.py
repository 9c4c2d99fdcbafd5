"""Jobs that wait, run or stop."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from kernel.calendar import day_bounds, local_day
from scheduling.engine.model import Ask, Job, JobState, Node, Placement
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Interruption
from scheduling.models import Job as JobRow
from scheduling.policy import HOUR, Choices
from scheduling.states import AttemptState, Cause
from scheduling.states import JobState as State

AVOID_FOR = timedelta(hours=1)
"""How long a job avoids a node that failed it."""
MOST_BEFORE_CHECKPOINT_S = 2 * HOUR
"""Of a job's own checkpoint interval no more counts: who says a year would never have to give way."""
_FAULTS = (Cause.NODE_LOST, Cause.HARDWARE, Cause.LAUNCH_FAILED)
_ASKED = (
    "project_id",
    "name",
    "milli_gpus",
    "nodes_exact",
    "cpus",
    "memory_bytes",
    "gpu_memory_bytes",
    "interconnect",
    "is_exclusive",
    "shares_device",
    "priority",
    "queued_at",
    "checkpoint_interval_s",
)
_QUEUED = ("pk", *_ASKED, "is_preemptible", "max_runtime_s", "not_before")
_LIVE = ("pk", "job_id", "gpu_model_id", "is_preemptible", "max_runtime_s", "started_at", "assigned_at", "stop_reason")
_STOPPING = (State.PAUSING, State.STOPPING)


def load_jobs(at: datetime, choices: Choices, names: dict[int, str], nodes: Sequence[Node]) -> tuple[Job, ...]:
    """All of them, with what the decision asks. Seven statements."""
    facts = _Facts(choices, _interrupted(at), _allowed(names))
    return (*_queue(at, facts), *_running(names, facts, {device.id for node in nodes for device in node.devices}))


class _Facts:
    """What is the same for jobs that wait and jobs that run. Jobs that ask alike share one ``Ask``."""

    def __init__(self, choices: Choices, interrupted: dict[int, int], allowed: dict[int, frozenset[str]]) -> None:
        self._least = choices.min_runtime_s
        self._interrupted = interrupted
        self._allowed = allowed
        self._asks: dict[Ask, Ask] = {}

    def common(self, pk: int, row: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": pk,
            "name": row["name"],
            "project": row["project_id"],
            "ask": self._ask(pk, row),
            "priority": row["priority"],
            "queued_at": row["queued_at"].timestamp(),
            # Stopped before its first checkpoint it would begin where it began.
            "min_runtime_s": max(self._least, min(row["checkpoint_interval_s"] or 0, MOST_BEFORE_CHECKPOINT_S)),
            "interruptions_today": self._interrupted.get(pk, 0),
        }

    def _ask(self, pk: int, row: dict[str, Any]) -> Ask:
        nodes = row["nodes_exact"] or 1
        ask = Ask(
            milli=row["milli_gpus"] // nodes,
            nodes=nodes,
            gpu_models=self._allowed.get(pk, frozenset()),
            cpus=row["cpus"],
            memory_bytes=row["memory_bytes"],
            gpu_memory_bytes=row["gpu_memory_bytes"],
            interconnect=row["interconnect"],
            is_exclusive=row["is_exclusive"],
            shares_device=row["shares_device"],
        )
        return self._asks.setdefault(ask, ask)


def _queue(at: datetime, facts: _Facts) -> Iterable[Job]:
    avoid = _avoided(at)
    for row in JobRow.objects.filter(state=State.QUEUED).order_by("pk").values(*_QUEUED):
        pk, not_before = row["pk"], row["not_before"]
        yield Job(
            **facts.common(pk, row),
            is_preemptible=row["is_preemptible"],
            order=pk,
            max_runtime_s=row["max_runtime_s"],
            not_before=None if not_before is None else not_before.timestamp(),
            avoid=frozenset(avoid.get(pk, ())),
        )


def _running(names: dict[int, str], facts: _Facts, devices: set[int]) -> Iterable[Job]:
    """Every job with a live attempt, whatever is known of it: releasing is not free."""
    held, members = _held(devices), _members()
    rows = Attempt.objects.exclude(state=AttemptState.ENDED).order_by("pk")
    for row in rows.values(*_LIVE, "job__state", *(f"job__{name}" for name in _ASKED)):
        seen = members.get(row["pk"], _Members())
        is_stopping = bool(row["stop_reason"]) or row["job__state"] in _STOPPING
        yield Job(
            **facts.common(row["job_id"], {name: row[f"job__{name}"] for name in _ASKED}),
            state=JobState.STOPPING if is_stopping else JobState.RUNNING,
            is_preemptible=row["is_preemptible"],
            order=row["pk"],
            max_runtime_s=row["max_runtime_s"],
            gpu_model=names[row["gpu_model_id"]],
            placement=held.get(row["pk"], {}),
            # Until its processes run, it counts from when its GPUs were given to it.
            started_at=(row["started_at"] or row["assigned_at"]).timestamp(),
            last_checkpoint_at=seen.checkpoint_at,
            member_lost_at=seen.lost_at if seen.has_seen else None,
        )


def _held(devices: set[int]) -> dict[int, Placement]:
    """By attempt: what it holds of devices that are there, and the nodes it is on."""
    held: dict[int, dict[int, dict[int, int]]] = defaultdict(dict)
    rows = DeviceAllocation.objects.filter(released_at__isnull=True).exclude(member__attempt__state=AttemptState.ENDED)
    for attempt, node, device, milli in rows.order_by("pk").values_list(
        "member__attempt_id", "member__node_id", "device_id", "milli"
    ):
        here = held[attempt].setdefault(node, {})
        if device in devices:
            here[device] = milli
    return dict(held)


@dataclass(slots=True)
class _Members:
    """Of one attempt: its newest checkpoint, when the first member was lost, and whether another is still heard."""

    checkpoint_at: float | None = None
    lost_at: float | None = None
    has_seen: bool = False


def _members() -> dict[int, _Members]:
    found: defaultdict[int, _Members] = defaultdict(_Members)
    live = AttemptMember.objects.exclude(attempt__state=AttemptState.ENDED).order_by("pk")
    for attempt, state, checkpoint_at, heard_at, fetched_at, allowed_s in live.values_list(
        "attempt_id", "state", "newest_checkpoint_at", "last_report_at", "fetched_at", "node__pool__lost_after_s"
    ):
        seen = found[attempt]
        if checkpoint_at is not None:
            seen.checkpoint_at = max(seen.checkpoint_at or 0.0, checkpoint_at.timestamp())
        if state == AttemptState.UNKNOWN:
            last = heard_at or fetched_at
            lost_at = 0.0 if last is None else last.timestamp() + allowed_s
            seen.lost_at = lost_at if seen.lost_at is None else min(seen.lost_at, lost_at)
        elif state != AttemptState.ENDED:
            seen.has_seen = True
    return dict(found)


def _allowed(names: dict[int, str]) -> dict[int, frozenset[str]]:
    """By job that waits or runs: the GPU models that it names."""
    rows = JobRow.gpu_models.through.objects.filter(job__state__in=[State.QUEUED, *_RUNNING])
    models: defaultdict[int, set[str]] = defaultdict(set)
    for job, model in rows.values_list("job_id", "gpumodel_id"):
        models[job].add(names[model])
    return {job: frozenset(found) for job, found in models.items()}


_RUNNING = (State.STARTING, State.RUNNING, *_STOPPING)


def _interrupted(at: datetime) -> dict[int, int]:
    """By job: how often it gave way on this day of the organisation."""
    day = day_bounds(local_day(at))
    rows = Interruption.objects.filter(cause=Cause.PREEMPTED, requested_at__gte=day.start)
    return dict(rows.values_list("job_id").annotate(times=Count("pk")))


def _avoided(at: datetime) -> dict[int, set[int]]:
    """By queued job: the nodes on which a recent attempt failed through no fault of the job."""
    failed = AttemptMember.objects.filter(
        attempt__job__state=State.QUEUED, attempt__cause__in=_FAULTS, attempt__ended_at__gte=at - AVOID_FOR
    )
    avoid: dict[int, set[int]] = defaultdict(set)
    for job, node in failed.values_list("attempt__job_id", "node_id"):
        avoid[job].add(node)
    return avoid
