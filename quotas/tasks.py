"""Tasks of the ledger."""

from celery import shared_task

from quotas import crossings, ends


@shared_task(name="quotas.tell_ends", queue="dispatch", time_limit=300, ignore_result=True)
def tell_ends() -> None:
    """Raises that end soon, or have ended: their projects' leads are told."""
    ends.tell_ends()


@shared_task(name="quotas.tell_crossings", queue="dispatch", time_limit=120, ignore_result=True)
def tell_crossings() -> None:
    """Use that has reached most, or all, of a limit: the project's leads are told."""
    crossings.tell_crossings()
