"""Suspending, resuming and closing a project. What follows from it is done above, told by the outbox."""

from accounts.models import Person
from kernel import audit, outbox
from kernel.states import transition
from kernel.unit import unit_of_work
from projects import policies
from projects.models import Project
from projects.services.acts import begin, bounded, needed
from projects.states import DONE


def project_suspend(*, actor: Person | None, project_id: int, reason: str) -> Project:
    """Stop an active project's use of resources for now: no launch from this commit on. Locks the project.

    Emits ``project.suspended``. Raises ``Invalid`` without a reason, ``IllegalTransition``, ``Forbidden``.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "suspend")
        _step(project, "suspend", someone, needed(reason), topic="project.suspended")
    return project


def project_resume(*, actor: Person | None, project_id: int, reason: str = "") -> Project:
    """Let a suspended project work again; not for its own people. Emits ``project.resumed``. Locks the project."""
    with unit_of_work():
        someone, project = begin(actor, project_id, "resume")
        _step(project, "resume", someone, bounded(reason), topic="project.resumed")
    return project


def project_close(*, actor: Person | None, project_id: int, reason: str) -> Project:
    """End a project for good; a draft too. Its row and history stay. Emits ``project.closed``. Locks the project."""
    with unit_of_work():
        someone, project = begin(actor, project_id, "close")
        _step(project, "close", someone, needed(reason), topic="project.closed")
    return project


def _step(project: Project, event: policies.Action, actor: Person, reason: str, *, topic: str) -> None:
    before = project.state
    transition(project, event, actor=actor, reason=reason)
    after = {"state": project.state, "reason": reason}
    audit.record(f"project.{DONE[event]}", actor=actor, subject=project, before={"state": before}, after=after)
    outbox.emit(topic, subject=project, data={"project_id": project.pk, "reason": reason})
