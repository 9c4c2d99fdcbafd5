"""What the form of a registration does when it is sent: one intention, one unit, once, however often it is sent."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID

from accounts.models import Person
from kernel import form_drafts, idempotency
from kernel.form_drafts import Data
from kernel.unit import unit_of_work
from projects import policies
from projects.errors import AlreadySent
from projects.facts import Facts
from projects.models import Project
from projects.services.acts import begin_new, begin_with_approval
from projects.services.decisions import submit_locked
from projects.services.drafts import create_locked, edit_locked
from projects.services.members import MemberAsked, join_from_start, newcomers


@dataclass(frozen=True, slots=True)
class Sending:
    """A form as it was sent. ``key`` stands for this one sending; ``form`` and ``subject`` name its draft."""

    facts: Facts
    key: UUID
    form: str
    typed: Data
    subject: str = ""
    is_submission: bool = False
    team: tuple[MemberAsked, ...] = ()
    """Who is to be on the team of a new project."""
    answer: str = ""
    seen: str | None = None

    @property
    def fingerprint(self) -> str:
        """Of what was typed: the same form sent again has the same."""
        canonical = json.dumps({**self.typed, "submit": self.is_submission}, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def registration_create(*, actor: Person | None, sending: Sending) -> Project:
    """A project from the form, with its team; submitted at once where that is asked for. Its draft is forgotten.

    The same form sent twice gives the first project; sent again with another text, ``AlreadySent``. Raises ``Invalid``
    naming everything that cannot be taken or is missing; nothing is kept then.
    """
    with unit_of_work():
        someone = begin_new(actor, newcomers(sending.team))
        known = _claimed(someone, sending)
        if known is not None:
            return known
        project = create_locked(someone, sending.facts)
        join_from_start(project, sending.team, by=someone)
        if sending.is_submission:
            submit_locked(project, someone)
        _remember(someone, sending, project)
    return project


def registration_edit(*, actor: Person | None, project_id: int, sending: Sending) -> Project:
    """Change a project as the form states it, and submit it where that is asked for, with the answer to an open
    question. Locks the project. Its drafts by this person are forgotten.

    Raises what ``project_edit`` and ``project_submit`` raise, and ``AlreadySent``; nothing is kept then.
    """
    with unit_of_work():
        someone, project, approval = begin_with_approval(actor, project_id, "read")
        known = _claimed(someone, sending)
        if known is not None:
            return known
        edit_locked(project, someone, sending.facts, sending.seen)
        if sending.is_submission:
            policies.require(someone, "submit", project)
            submit_locked(project, someone, sending.answer, approval)
        _remember(someone, sending, project)
    return project


def sent_before(person: Person, sending: Sending) -> Project | None:
    """The project of this very form if it was sent before; ``AlreadySent`` if that was with another text."""
    return _same(sending, idempotency.stored(actor=person, key=_key(sending)))


def _claimed(someone: Person, sending: Sending) -> Project | None:
    """Likewise, in the unit that is to do it: of two at the same moment the second waits for the first."""
    what = f"{sending.form} {sending.subject}"
    return _same(sending, idempotency.claim(actor=someone, key=_key(sending), fingerprint=what))


def _same(sending: Sending, stored: idempotency.Stored | None) -> Project | None:
    if stored is None:
        return None
    project = Project.objects.get(pk=stored.body["project"])
    if stored.body["sent"] != sending.fingerprint:
        raise AlreadySent(data={"project": project.pk})
    return project


def _key(sending: Sending) -> str:
    return f"form:{sending.key}"


def _remember(someone: Person, sending: Sending, project: Project) -> None:
    body = {"project": project.pk, "sent": sending.fingerprint}
    idempotency.store(actor=someone, key=_key(sending), status=200, body=body)
    form_drafts.finish(owner_id=someone.pk, key=sending.key, form=sending.form, subject=sending.subject)
