"""What a person does with a job that is there: cancel, pause, resume, requeue."""

from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock, outbox
from kernel.errors import IllegalTransition
from kernel.states import transition
from kernel.unit import lock, unit_of_work
from projects.models import Project
from projects.services.acts import as_now
from projects.states import ProjectState
from scheduling import policies, wake
from scheduling.errors import ProjectNotActive
from scheduling.models import Earmark, Job
from scheduling.outcome import GIVES_WAY
from scheduling.services.attempts import live_attempt, request_stop
from scheduling.states import JobState

_REASON_FIELDS = ["reason", "reason_code", "reason_data"]


def job_cancel(*, actor: Person, job_id: int, reason: str = "") -> Job:
    """Take a waiting job out of the queue, or stop a live one by the graceful path. Locks the job.

    Raises ``NotFound``, ``Forbidden``, ``IllegalTransition``.
    """
    with unit_of_work():
        job = _locked(actor, job_id)
        before = job.state
        if job.state in (JobState.QUEUED, JobState.PAUSED):
            cancel_waiting(job, "user", reason or "It was cancelled by a person.", actor=actor)
        else:
            stop_live(job, "user", reason, actor=actor)
        _audit("job.cancel", actor, job, before, reason)
    return job


def job_pause(*, actor: Person, job_id: int, reason: str = "") -> Job:
    """Hold a waiting job back, or stop a live one so that it can go on later. Locks the job.

    A live job is *pausing* until its processes have ended. Raises ``NotFound``, ``Forbidden``,
    ``IllegalTransition``.
    """
    with unit_of_work():
        job = _locked(actor, job_id)
        before = job.state
        job.reason, job.reason_code, job.reason_data = reason or "It was paused by a person.", "user", {}
        transition(job, "pause", actor=actor, reason=reason, fields=_REASON_FIELDS)
        attempt = live_attempt(job)
        if attempt is not None:
            request_stop(job, attempt, "user", actor=actor)
        _audit("job.pause", actor, job, before, reason)
    return job


def job_resume(*, actor: Person, job_id: int, reason: str = "") -> Job:
    """Queue a paused job again, behind those that wait. Locks project and job; the project is active (REG2)."""
    return _queue_again(actor, job_id, "resume", reason)


def job_requeue(*, actor: Person, job_id: int, reason: str = "") -> Job:
    """Queue a failed, cancelled or timed-out job again, with all its retries. Locks project and job (REG2)."""
    return _queue_again(actor, job_id, "requeue", reason)


def cancel_waiting(job: Job, code: str, text: str, *, actor: Person | None) -> None:
    """End a queued or paused job (locked) that has no attempt."""
    job.reason, job.reason_code, job.reason_data = text, code, {}
    job.ended_at, job.not_before = clock.now(), None
    fields = [*_REASON_FIELDS, "ended_at", "not_before"]
    transition(job, "cancel", actor=actor, reason=text, fields=fields)
    Earmark.objects.filter(job=job).delete()
    outbox.emit("job.ended", subject=job, data={"state": job.state, "reason": code})
    wake.wake_scheduler()


def stop_live(job: Job, stop_reason: str, text: str, *, actor: Person | None) -> None:
    """Stop a starting, running or pausing job (locked) by the graceful path; one that gives way is not queued again.
    Raises ``IllegalTransition``."""
    attempt = live_attempt(job)
    if job.state == JobState.STOPPING and (attempt is None or attempt.stop_reason not in GIVES_WAY):
        raise IllegalTransition(_("This job is being stopped."), data={"state": job.state, "event": "stop"})
    transition(job, "stop", actor=actor, reason=text)
    if attempt is None:
        raise IllegalTransition(_("This job has nothing to stop."), data={"state": job.state, "event": "stop"})
    request_stop(job, attempt, stop_reason, actor=actor)


def _queue_again(actor: Person, job_id: int, event: str, reason: str) -> Job:
    with unit_of_work():
        job = _locked(actor, job_id, with_project=True)
        before = job.state
        job.machine.target(job.state, event)
        _require_active(job.project)
        job.queued_at, job.not_before, job.ended_at = clock.now(), None, None
        job.reason, job.reason_code, job.reason_data = "", "", {}
        fields = [*_REASON_FIELDS, "queued_at", "not_before", "ended_at"]
        transition(job, event, actor=actor, reason=reason, fields=fields)
        _audit(f"job.{event}", actor, job, before, reason)
        wake.wake_scheduler()
    return job


def _require_active(project: Project) -> None:
    state = ProjectState(project.state)
    if state != ProjectState.ACTIVE:
        text = _("The project is %(state)s; only an active project runs jobs.") % {"state": state.label}
        raise ProjectNotActive(text, data={"project": project.pk, "state": str(state)})


def _locked(actor: Person, job_id: int, *, with_project: bool = False) -> Job:
    """The job, locked, of an actor whose rights are judged as they are now. Raises ``NotFound``, ``Forbidden``."""
    someone = as_now(actor)
    projects = list(Job.objects.filter(pk=job_id).values_list("project_id", flat=True)) if with_project else []
    rows = lock({Project: projects, Job: [job_id]})
    job: Job = rows[Job][job_id]
    if with_project:
        job.project = rows[Project][job.project_id]
    policies.require_act(someone, job)
    return job


def _audit(action: str, actor: Person, job: Job, before: str, reason: str) -> None:
    after: dict[str, Any] = {"state": job.state, "reason": reason}
    audit.record(action, actor=actor, subject=job, before={"state": before}, after=after)
