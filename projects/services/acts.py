"""How every act on a project begins, and how its change is written down."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.models import Approval
from approvals.services import lock_with_open, opened
from kernel import clock
from kernel.errors import Invalid
from kernel.unit import lock
from projects import policies
from projects.content import REGISTRATION
from projects.models import Project, ProjectChange

MAX_REASON = 2000


def begin(
    actor: Person | None, project_id: int, action: policies.Action, *, joining: Person | None = None
) -> tuple[Person, Project]:
    """Lock the project, then judge the actor's rights as they are now, not as they were at sign-in.

    ``joining`` is locked, too: nobody is put on a team while they are being off-boarded.
    Call inside a unit of work. Raises ``Unauthenticated``, ``NotFound``, ``Forbidden``, ``LockTimeout``.
    """
    someone = as_now(actor)
    project: Project = lock({Person: [joining.pk] if joining else [], Project: [project_id]})[Project][project_id]
    return policies.require(someone, action, project), project


def begin_with_approval(
    actor: Person | None, project_id: int, action: policies.Action
) -> tuple[Person, Project, Approval | None]:
    """The same with the open approval of its registration locked too, None where no decision is open."""
    someone = as_now(actor)
    locked = lock_with_open(REGISTRATION, project_id, {Project: [project_id]})
    project: Project = locked[Project][project_id]
    return policies.require(someone, action, project), project, opened(locked)


def begin_new(actor: Person | None, joining: Iterable[Person] = ()) -> Person:
    """Likewise of a project that is to come: its people are locked, the actor among them, who is given back fresh."""
    someone = require_signed_in(actor)
    people = lock({Person: {someone.pk, *(person.pk for person in joining)}})[Person]
    return require_signed_in(people[someone.pk])


def as_now(actor: Person | None) -> Person:
    """The actor read again, without rights remembered from before. Raises ``Unauthenticated``."""
    someone = require_signed_in(actor)
    return require_signed_in(Person.objects.filter(pk=someone.pk).first())


def note(project: Project, field: str, before: Any, after: Any, actor: Person) -> None:
    """One line of the project's history (REG4). Values are plain JSON."""
    ProjectChange.objects.create(project=project, field=field, before=before, after=after, at=clock.now(), by=actor)


def needed(reason: str) -> str:
    """The reason, which may not be missing. Raises ``Invalid``."""
    tidy = reason.strip()
    if not tidy:
        raise Invalid({"reason": _("Say why: the reason is kept and shown to the project.")})
    return bounded(tidy)


def bounded(reason: str) -> str:
    """Raises ``Invalid`` where the text is too long to be kept."""
    if len(reason) > MAX_REASON:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({"reason": text % {"count": len(reason), "most": MAX_REASON}})
    return reason.strip()
