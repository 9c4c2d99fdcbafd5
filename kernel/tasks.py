"""Tasks of the kernel: deliver the outbox, seal the audit log, forget what is too old."""

from celery import shared_task

from kernel import audit, clock, outbox, retention


@shared_task(name="kernel.deliver_outbox", queue="dispatch", time_limit=120, ignore_result=True)
def deliver_outbox() -> None:
    outbox.deliver_due()


@shared_task(name="kernel.seal_audit", queue="dispatch", time_limit=120, ignore_result=True)
def seal_audit() -> None:
    audit.seal_pending()


@shared_task(name="kernel.forget_old", queue="dispatch", time_limit=120, ignore_result=True)
def forget_old() -> None:
    retention.forget_old(clock.now())
