"""Upkeep of the raw samples."""

from datetime import timedelta

from celery import shared_task

from kernel import clock
from monitoring import partitions
from monitoring.services import retention

DAYS_AHEAD = 2


@shared_task(name="monitoring.ensure_partitions", queue="dispatch", time_limit=60, ignore_result=True)
def ensure_partitions() -> None:
    """Make the days to come before the first sample asks for one."""
    today = clock.now().date()
    partitions.partitions_ensure([today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD + 1)])


@shared_task(name="monitoring.drop_partitions", queue="dispatch", time_limit=60, ignore_result=True)
def drop_partitions() -> None:
    """Let go of the days that are older than what is kept; a lock that is not had now is had next time."""
    partitions.partitions_drop(clock.now() - retention())
