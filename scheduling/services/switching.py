"""A project's waiting jobs are made preemptible, or no longer so, all at once (JOB3)."""

from accounts.models import Person
from kernel import audit
from kernel.unit import lock, unit_of_work
from projects.models import Project
from projects.services.acts import as_now
from scheduling import policies, wake
from scheduling.models import Job
from scheduling.states import JobState

WAITING = (JobState.QUEUED, JobState.PAUSED)


def jobs_switch(*, actor: Person, project_id: int, is_preemptible: bool, reason: str = "") -> list[int]:
    """Switch every waiting job of the project that is not so yet, and return their ids. What runs stays as it started.

    The project's lead or an admin. Locks project and jobs. Raises ``NotFound``, ``Forbidden``.
    """
    with unit_of_work():
        someone = as_now(actor)
        wanted = Job.objects.filter(project=project_id, state__in=WAITING).exclude(is_preemptible=is_preemptible)
        rows = lock({Project: [project_id], Job: list(wanted.values_list("pk", flat=True))})
        project: Project = rows[Project][project_id]
        policies.require_switch(someone, project)
        switched = [pk for pk, job in sorted(rows[Job].items()) if job.state in WAITING]
        Job.objects.filter(pk__in=switched).update(is_preemptible=is_preemptible)
        after = {"is_preemptible": is_preemptible, "jobs": switched, "reason": reason}
        audit.record("jobs.switch", actor=actor, subject=project, after=after)
        wake.wake_scheduler()
    return switched
