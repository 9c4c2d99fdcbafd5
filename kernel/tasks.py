"""Tasks of the kernel: deliver the outbox, seal the audit log."""

from celery import shared_task

from kernel import audit, outbox


@shared_task(name="kernel.deliver_outbox", queue="dispatch", time_limit=120, ignore_result=True)
def deliver_outbox() -> None:
    outbox.deliver_due()


@shared_task(name="kernel.seal_audit", queue="dispatch", time_limit=120, ignore_result=True)
def seal_audit() -> None:
    audit.seal_pending()
