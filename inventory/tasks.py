"""Tasks of the inventory."""

from celery import shared_task

from inventory import services
from kernel import clock


@shared_task(name="inventory.mark_silent_nodes", queue="dispatch", time_limit=60, ignore_result=True)
def mark_silent_nodes() -> None:
    services.node_mark_silent(clock.database_now())
