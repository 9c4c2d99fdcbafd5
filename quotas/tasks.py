"""Tasks of the ledger."""

from celery import shared_task

from quotas import ends


@shared_task(name="quotas.tell_ends", queue="dispatch", time_limit=300, ignore_result=True)
def tell_ends() -> None:
    """Raises that end soon, or have ended: their projects' leads are told."""
    ends.tell_ends()
