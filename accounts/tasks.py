"""Tasks of the accounts."""

from celery import shared_task

from accounts import services
from kernel import clock


@shared_task(name="accounts.forget_sign_ins", queue="dispatch", time_limit=120, ignore_result=True)
def forget_sign_ins() -> None:
    """Sessions that are over, and old notes of who tried to sign in from where."""
    services.sign_ins_forget(clock.now())
