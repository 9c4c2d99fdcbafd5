"""Tasks of the registry: the work behind an import. Each may be started again at any time."""

from celery import shared_task

from kernel import clock
from kernel.errors import LockTimeout
from projects.imports import work


@shared_task(name="projects.import_check", queue="dispatch", time_limit=600, ignore_result=True)
def import_check(import_id: int) -> None:
    work.check(import_id)


@shared_task(
    name="projects.import_apply",
    queue="dispatch",
    time_limit=600,
    ignore_result=True,
    autoretry_for=(LockTimeout,),
    retry_backoff=5,
    max_retries=5,
)
def import_apply(import_id: int) -> None:
    work.apply(import_id)


@shared_task(name="projects.import_undo", queue="dispatch", time_limit=600, ignore_result=True)
def import_undo(import_id: int) -> None:
    work.undo(import_id)


@shared_task(name="projects.imports_resume", queue="dispatch", time_limit=60, ignore_result=True)
def imports_resume() -> None:
    """What was not sent, or whose worker was lost."""
    work.resume_stuck(clock.now())


@shared_task(name="projects.imports_forget", queue="dispatch", time_limit=300, ignore_result=True)
def imports_forget() -> None:
    """Files are kept for a month."""
    work.forget_files(clock.now())
