"""Suspending, resuming and closing a project. What follows from it is done above, told by the outbox."""

from accounts.models import Person
from approvals.services import approval_withdraw
from kernel import audit, outbox
from kernel.states import transition
from kernel.unit import lock, unit_of_work
from projects import policies
from projects.models import Project, ProjectChange
from projects.services.acts import as_now, begin, begin_with_approval, bounded, needed
from projects.states import DONE, ProjectState


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
        someone, project, approval = begin_with_approval(actor, project_id, "close")
        _step(project, "close", someone, needed(reason), topic="project.closed")
        if approval is not None:
            approval_withdraw(actor=someone, approval=approval, reason=reason)
    return project


def project_close_untouched(*, actor: Person | None, project_id: int, reason: str) -> bool:
    """Close a draft if nothing happened to it since it was registered, and say whether it was closed.

    Locks the project. Whoever may not close it any more leaves it as it is.
    """
    with unit_of_work():
        someone = as_now(actor)
        project: Project = lock({Project: [project_id]})[Project][project_id]
        is_new = project.state == ProjectState.DRAFT and project.updated_at == project.created_at
        # The one line of a new project is that its lead joined.
        is_untouched = is_new and ProjectChange.objects.filter(project=project).count() <= 1
        if not is_untouched or not policies.may(someone, "close", project):
            return False
        _step(project, "close", someone, needed(reason), topic="project.closed")
    return True


def _step(project: Project, event: policies.Action, actor: Person, reason: str, *, topic: str) -> None:
    before = project.state
    transition(project, event, actor=actor, reason=reason)
    after = {"state": project.state, "reason": reason}
    audit.record(f"project.{DONE[event]}", actor=actor, subject=project, before={"state": before}, after=after)
    outbox.emit(topic, subject=project, data={"project_id": project.pk, "reason": reason})
