"""Submitting a draft, and deciding on what was submitted. Nobody decides on a project of their own."""

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role, require_signed_in
from approvals.kinds import Act, Case, Locked
from approvals.models import Answer, Approval
from approvals.rules import Measures
from approvals.services import (
    Ballot,
    answer_faults,
    approval_submit,
    approval_vote,
    approval_withdraw,
    open_approval_id,
)
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.states import transition
from kernel.unit import unit_of_work
from projects import policies
from projects.content import REGISTRATION, content_hash, missing_for_submit
from projects.errors import OwnProject
from projects.models import Project, Question
from projects.selectors import open_question
from projects.services.acts import as_now, begin_with_approval, bounded, needed
from projects.states import DONE, ProjectState


def project_submit(*, actor: Person | None, project_id: int, answer: str = "") -> Project:
    """Ask for a decision on a draft. Locks the project; from now on its content is fixed.

    ``answer`` is to the question with which it was returned, and needed exactly while that is open. Raises
    ``Invalid`` naming each field that is missing, ``IllegalTransition``, ``Forbidden``, ``NotFound``.
    """
    with unit_of_work():
        someone, project, approval = begin_with_approval(actor, project_id, "submit")
        submit_locked(project, someone, answer, approval)
    return project


def submit_locked(project: Project, someone: Person, answer: str = "", approval: Approval | None = None) -> None:
    """The same in a unit that holds the project's lock, for somebody who may submit it. ``approval``: the locked one
    in which it was returned."""
    Project.machine.target(project.state, "submit")
    question, said = open_question(project), answer.strip()
    missing = missing_for_submit(project) | answer_faults(question.asked_by if question else None, said)
    if missing:
        raise Invalid(missing)
    if question is not None:
        _answer(question, said, someone)
    project.submitted_by = someone
    project.updated_at = clock.now()
    project.save(update_fields=["submitted_by", "updated_at"])
    _step(project, "submit", someone, said)
    locked: Locked = {Project: {project.pk: project}}
    approval_submit(actor=someone, case=case_of(project), existing=approval, locked=locked)


def project_withdraw(*, actor: Person | None, project_id: int, reason: str = "") -> Project:
    """Take a submitted project back to a draft before it is decided. Locks the project."""
    with unit_of_work():
        someone, project, approval = begin_with_approval(actor, project_id, "withdraw")
        why = bounded(reason)
        _step(project, "withdraw", someone, why)
        if approval is not None:
            approval_withdraw(actor=someone, approval=approval, reason=why)
    return project


def project_decide(
    *, actor: Person | None, project_id: int, answer: str, reason: str = "", seen: str | None = None
) -> Project:
    """The actor's vote on a submitted project: approve, reject or return, as the approval's step allows.

    ``seen`` is the content hash that was looked at. Raises ``NotFound`` for a stranger, ``IllegalTransition`` where
    nothing is to decide, ``OwnProject`` for the project's people, past ones included, and what ``approval_vote``
    raises.
    """
    someone = require_signed_in(actor)
    project = policies.visible_to(someone).filter(pk=project_id).first()
    if project is None:
        raise NotFound
    if policies.standing(as_now(someone), project).is_own:
        raise OwnProject(data={"action": "decide"})
    approval_id = open_approval_id(REGISTRATION, project_id)
    if project.state != ProjectState.SUBMITTED or approval_id is None:
        require_role(someone, Role.ADMIN, Role.DIRECTOR)
        Project.machine.target(project.state, answer)
        raise Conflict(_("No decision on this project is open."))
    if answer != Answer.APPROVE:
        needed(reason)
    approval_vote(actor=someone, approval_id=approval_id, ballot=Ballot(answer, seen=seen, comment=reason))
    return Project.objects.get(pk=project_id)


def project_judged(act: Act, project: Project) -> None:
    """What the flow decided, done to the locked project; a question is kept until it is answered."""
    _step(project, act.answer, act.actor, act.reason)
    if act.answer == Answer.RETURN and act.actor is not None:
        Question.objects.create(project=project, text=act.reason, asked_by=act.actor, asked_at=clock.now())


def case_of(project: Project) -> Case:
    """The registration as the flow takes it."""
    return Case(
        kind=REGISTRATION,
        subject_id=project.pk,
        project_id=project.pk,
        title=project.name,
        content=content_hash(project),
        measures=Measures(),
        summary={"stage": project.stage},
    )


def _answer(question: Question, answer: str, someone: Person) -> None:
    question.answer, question.answered_by, question.answered_at = answer, someone, clock.now()
    question.save(update_fields=["answer", "answered_by", "answered_at"])


def _step(project: Project, event: str, actor: Person | None, reason: str = "") -> None:
    """The transition with its history row, and the audit entry; both hold the content it was made on."""
    before, content = project.state, content_hash(project)
    transition(project, event, actor=actor, reason=reason, data={"content": content})
    after = {"state": project.state, "reason": reason, "content": content}
    audit.record(f"project.{DONE[event]}", actor=actor, subject=project, before={"state": before}, after=after)
