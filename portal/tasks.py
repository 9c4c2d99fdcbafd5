"""Periodic tasks of the site as a whole."""

from celery import shared_task

from portal.demo import submit


@shared_task(name="portal.demo_submit", queue="dispatch", time_limit=60, ignore_result=True)
def demo_submit() -> None:
    """Keep the demo organisation's simulated nodes at work; does nothing in any other organisation."""
    submit.demo_submit()
