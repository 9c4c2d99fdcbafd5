"""Submitting a draft, and deciding on what was submitted. Nobody decides on a project of their own."""

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import Invalid
from kernel.states import transition
from kernel.unit import unit_of_work
from projects.content import changed_fields, content_hash, missing_for_submit
from projects.errors import ContentChanged
from projects.models import Project, Question
from projects.selectors import open_question
from projects.services.acts import MAX_REASON, begin, bounded, needed
from projects.states import DONE


def project_submit(*, actor: Person | None, project_id: int, answer: str = "") -> Project:
    """Ask for a decision on a draft. Locks the project; from now on its content is fixed.

    ``answer`` is to the question with which it was returned, and needed exactly while that is open. Raises
    ``Invalid`` naming each field that is missing, ``IllegalTransition``, ``Forbidden``, ``NotFound``.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "submit")
        submit_locked(project, someone, answer)
    return project


def submit_locked(project: Project, someone: Person, answer: str = "") -> None:
    """The same in a unit that holds the project's lock, for somebody who may submit it."""
    Project.machine.target(project.state, "submit")
    question, said = open_question(project), answer.strip()
    missing = missing_for_submit(project) | _answer_faults(question, said)
    if missing:
        raise Invalid(missing)
    if question is not None:
        _answer(question, said, someone)
    project.submitted_by = someone
    project.updated_at = clock.now()
    project.save(update_fields=["submitted_by", "updated_at"])
    _step(project, "submit", someone, said)


def project_withdraw(*, actor: Person | None, project_id: int, reason: str = "") -> Project:
    """Take a submitted project back to a draft before it is decided. Locks the project."""
    with unit_of_work():
        someone, project = begin(actor, project_id, "withdraw")
        _step(project, "withdraw", someone, bounded(reason))
    return project


def project_approve(*, actor: Person | None, project_id: int, seen: str | None = None, reason: str = "") -> Project:
    """Make a submitted project active. Locks the project and judges the approver's rights as they are now.

    ``seen`` is the content hash that the approver looked at; another content is ``ContentChanged`` naming what
    changed. Raises ``OwnProject`` for members, the creator and who submitted it; ``IllegalTransition`` on the
    second click.
    """
    with unit_of_work():
        someone, project = _decide(actor, project_id, "approve", seen)
        _step(project, "approve", someone, bounded(reason))
    return project


def project_reject(*, actor: Person | None, project_id: int, reason: str, seen: str | None = None) -> Project:
    """End a submitted project's registration; the reason is needed. Otherwise as ``project_approve``."""
    with unit_of_work():
        someone, project = _decide(actor, project_id, "reject", seen)
        _step(project, "reject", someone, needed(reason))
    return project


def project_return(*, actor: Person | None, project_id: int, reason: str, seen: str | None = None) -> Project:
    """Give a submitted project back as a draft with a question, which stays open until it is submitted with an
    answer. Otherwise as ``project_approve``."""
    with unit_of_work():
        someone, project = _decide(actor, project_id, "return", seen)
        asked = needed(reason)
        _step(project, "return", someone, asked)
        Question.objects.create(project=project, text=asked, asked_by=someone, asked_at=clock.now())
    return project


def _answer_faults(question: Question | None, answer: str) -> dict[str, str]:
    if question is not None and not answer:
        text = _("Answer the question of %(person)s: the answer is kept and shown to whoever decides.")
        return {"answer": text % {"person": question.asked_by}}
    if question is None and answer:
        return {"answer": _("No question is open.")}
    if len(answer) > MAX_REASON:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        return {"answer": text % {"count": len(answer), "most": MAX_REASON}}
    return {}


def _answer(question: Question, answer: str, someone: Person) -> None:
    question.answer, question.answered_by, question.answered_at = answer, someone, clock.now()
    question.save(update_fields=["answer", "answered_by", "answered_at"])


def _decide(actor: Person | None, project_id: int, event: str, seen: str | None) -> tuple[Person, Project]:
    someone, project = begin(actor, project_id, "decide")
    Project.machine.target(project.state, event)
    now = content_hash(project)
    if seen is not None and seen != now:
        raise ContentChanged(data={"changed": changed_fields(seen, now), "content": now})
    return someone, project


def _step(project: Project, event: str, actor: Person, reason: str = "") -> None:
    """The transition with its history row, and the audit entry; both hold the content it was made on."""
    before, content = project.state, content_hash(project)
    transition(project, event, actor=actor, reason=reason, data={"content": content})
    after = {"state": project.state, "reason": reason, "content": content}
    audit.record(f"project.{DONE[event]}", actor=actor, subject=project, before={"state": before}, after=after)
