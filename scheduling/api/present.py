"""Jobs, attempts and their history as plain data."""

from collections.abc import Sequence
from typing import Any

from scheduling.api.fields import gpus_of
from scheduling.models import Job
from scheduling.selectors import AttemptView, InterruptionView, JobDetail, JobEvent

_SAME = (
    "id",
    "name",
    "state",
    "reason",
    "reason_code",
    "command",
    "nodes_exact",
    "priority",
    "max_runtime_s",
    "grace_s",
    "max_retries",
    "cpus",
    "memory_bytes",
    "gpu_memory_bytes",
    "interconnect",
    "environment",
    "env",
    "datasets",
    "checkpoint_dir",
    "checkpoint_interval_s",
    "signal",
    "submitted_at",
    "queued_at",
    "ended_at",
)


def present_rows(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Rows of ``scheduling.selectors.listed``."""
    return [present_row(job) for job in jobs]


def present_row(job: Job) -> dict[str, Any]:
    return {
        **{name: getattr(job, name) for name in _SAME},
        "project": job.project_id,
        "project_name": job.project.name,
        "owner": job.owner.username,
        "gpu_models": [model.name for model in job.gpu_models.all()],
        "gpus": gpus_of(job.milli_gpus),
        "preemptible": job.is_preemptible,
        "exclusive": job.is_exclusive,
        "share_device": job.shares_device,
        "needs": job.reason_data.get("needs", {}),
        "expected_at": job.reason_data.get("until"),
        "started_at": getattr(job, "started_at", None),
    }


def present_job(detail: JobDetail, log_bytes: int) -> dict[str, Any]:
    """One job whole, its attempts oldest first."""
    job, attempts = detail.job, detail.attempts
    return {
        **present_row(job),
        "started_at": attempts[-1].started_at if attempts else None,
        "can": detail.possible,
        "launch_check": job.launch_check,
        "log_bytes": log_bytes,
        "attempts": [_attempt(attempt) for attempt in attempts],
    }


def _attempt(attempt: AttemptView) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "state": attempt.state,
        "node": attempt.node or None,
        "placement": {node: gpus_of(sum(devices.values())) for node, devices in attempt.placement.items()},
        "devices": [
            {"node": node, "uuid": uuid, "gpus": gpus_of(milli)}
            for node, devices in attempt.placement.items()
            for uuid, milli in devices.items()
        ],
        "gpu_model": attempt.gpu_model,
        "is_simulated": attempt.is_simulated,
        "launcher": attempt.launcher,
        "assigned_at": attempt.assigned_at,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "newest_checkpoint_at": attempt.newest_checkpoint_at,
        "exit_code": attempt.exit_code,
        "cause": attempt.cause or None,
        "message": attempt.message,
        "interruption": _interruption(attempt.interruption),
    }


def _interruption(cut: InterruptionView | None) -> dict[str, Any] | None:
    if cut is None:
        return None
    lost = cut.lost_gpu_seconds if cut.is_booked else None
    return {"by": cut.by, "at": cut.at, "checkpoint_at": cut.checkpoint_at, "lost_gpu_seconds": lost}


def present_events(events: Sequence[JobEvent]) -> list[dict[str, Any]]:
    return [
        {
            "at": event.at,
            "subject": event.subject,
            "event": event.event,
            "from_state": event.from_state,
            "to_state": event.to_state,
            "actor": event.actor_name,
            "reason": event.reason,
        }
        for event in events
    ]
