"""Tasks of the approvals."""

from celery import shared_task

from approvals import services


@shared_task(name="approvals.sweep", queue="dispatch", time_limit=120, ignore_result=True)
def sweep() -> None:
    """Reminders, escalation, and whom a step falls to now."""
    services.sweep()
