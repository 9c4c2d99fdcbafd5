"""The ledger of interruptions (JOB10): opened when a job must give way, booked when its attempt has ended."""

from collections.abc import Sequence
from datetime import datetime

from kernel import clock
from scheduling.metering import milli_gpu_seconds
from scheduling.models import Attempt, AttemptMember, Interruption, Job
from scheduling.states import Cause

_CREDITED = (Cause.PREEMPTED, Cause.NODE_LOST, Cause.HARDWARE)
"""Ends that are not the job's doing: what is lost by them is the project's credit."""


def interruption_open(job: Job, attempt: Attempt, by: Job | None) -> Interruption:
    """Note that the job (locked) gives way to ``by``, or, if None, that its gang lost members."""
    return Interruption.objects.create(
        attempt=attempt,
        job=job,
        by=by,
        cause=Cause.PREEMPTED if by is not None else Cause.NODE_LOST,
        milli_gpus=job.milli_gpus,
        requested_at=clock.now(),
    )


def interruption_book(attempt: Attempt, members: Sequence[AttemptMember], *, milli_gpus: int) -> Interruption | None:
    """Book what an ended attempt (its job locked) lost: its GPUs since the last checkpoint, or since it started.

    What ended by itself, or by a person's will, lost nothing by the interruption. None: nothing is to be booked.
    """
    is_credited = attempt.cause in _CREDITED
    row = Interruption.objects.filter(attempt=attempt, ended_at__isnull=True).first()
    if row is None and not is_credited:
        return None
    ended_at = attempt.ended_at or clock.now()
    if row is None:
        row = Interruption(attempt=attempt, job_id=attempt.job_id, milli_gpus=milli_gpus, requested_at=ended_at)
    row.cause = attempt.cause if is_credited else row.cause
    row.ended_at = ended_at
    row.checkpoint_at = max((m.newest_checkpoint_at for m in members if m.newest_checkpoint_at), default=None)
    row.lost_from = _lost_from(attempt, row.checkpoint_at, ended_at) if is_credited else None
    row.lost_milli_gpu_seconds = _lost(row, ended_at)
    row.save()
    return row


def _lost_from(attempt: Attempt, checkpoint_at: datetime | None, ended_at: datetime) -> datetime | None:
    if attempt.started_at is None:
        return None
    return min(ended_at, max(attempt.started_at, checkpoint_at or attempt.started_at))


def _lost(row: Interruption, ended_at: datetime) -> int:
    if row.lost_from is None:
        return 0
    return milli_gpu_seconds(row.milli_gpus, row.lost_from, row.lost_from, ended_at)
