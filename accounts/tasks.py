"""Tasks of the accounts."""

from celery import shared_task

from accounts import services
from accounts.notifications import sending
from accounts.services.notifications import notifications_forget
from kernel import clock


@shared_task(name="accounts.forget_sign_ins", queue="dispatch", time_limit=120, ignore_result=True)
def forget_sign_ins() -> None:
    """Sessions that are over, and old notes of who tried to sign in from where."""
    services.sign_ins_forget(clock.now())


@shared_task(name="accounts.deliver_notifications", queue="dispatch", time_limit=170, ignore_result=True)
def deliver_notifications() -> None:
    """Mails, digests and chat messages that are due."""
    sending.deliver_due()


@shared_task(name="accounts.forget_notifications", queue="dispatch", time_limit=120, ignore_result=True)
def forget_notifications() -> None:
    """What was read long ago, and old lines of the ledger."""
    notifications_forget(clock.now())
