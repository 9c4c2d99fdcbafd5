"""The safety net under the agent's own clock: attempts beyond their max runtime."""

from datetime import datetime, timedelta

from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, QuerySet, Value

from kernel import sweep
from kernel.unit import lock
from scheduling.models import Attempt, Job
from scheduling.services.attempts import request_stop
from scheduling.states import AttemptState

MARGIN = timedelta(seconds=60)


def attempts_stop_overdue(now: datetime) -> int:
    """Ask every attempt that has run a minute longer than it may to stop; return how many.

    Locks each job; one that cannot be stopped does not keep the others.
    """
    job_ids = _overdue(now).order_by("job_id").values_list("job_id", flat=True)
    return sum(sweep.each("stop_overdue", job_ids, lambda job_id: _stop(job_id, now)))


def _stop(job_id: int, now: datetime) -> bool:
    job: Job = lock({Job: [job_id]})[Job][job_id]
    attempt = _overdue(now).filter(job=job_id).first()
    if attempt is None:
        return False
    request_stop(job, attempt, "timeout", actor=None)
    return True


def _overdue(now: datetime) -> QuerySet[Attempt]:
    second = Value(timedelta(seconds=1), output_field=DurationField())
    allowed = ExpressionWrapper(F("max_runtime_s") * second, output_field=DurationField())
    ends_at = ExpressionWrapper(F("started_at") + allowed, output_field=DateTimeField())
    live = Attempt.objects.filter(stop_reason="", started_at__isnull=False, max_runtime_s__isnull=False)
    return live.exclude(state=AttemptState.ENDED).alias(ends_at=ends_at).filter(ends_at__lt=now - MARGIN)
