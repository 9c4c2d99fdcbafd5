"""Tasks of the scheduler. Each is idempotent and does what is due, however often it is started."""

from celery import shared_task

from kernel import clock
from scheduling import heartbeat, services


@shared_task(name="scheduling.tick", queue="dispatch", time_limit=60, ignore_result=True)
def tick() -> None:
    """Decide and start what can start. One leader at a time; beat heals a lost wake."""
    services.decide_and_apply(clock.now())
    heartbeat.beat()


@shared_task(name="scheduling.mark_silent", queue="dispatch", time_limit=60, ignore_result=True)
def mark_silent() -> None:
    """What silent nodes hold is unknown."""
    services.members_lose_sight()


@shared_task(name="scheduling.stop_overdue", queue="dispatch", time_limit=60, ignore_result=True)
def stop_overdue() -> None:
    """The node ends a job at its max runtime; this is for a node that does not."""
    services.attempts_stop_overdue(clock.now())


@shared_task(name="scheduling.forget_decisions", queue="dispatch", time_limit=120, ignore_result=True)
def forget_decisions() -> None:
    """Decisions explain the present; what came of them is in jobs and attempts."""
    services.decisions_forget(clock.now())
