"""Who may do what on a project. A role on a project is an object permission; what it allows is computed here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from guardian.shortcuts import get_objects_for_user, get_user_perms

from accounts.models import Person, Role
from accounts.policies import has_role, organisation_roles, require_signed_in
from kernel.errors import Forbidden, NotFound
from projects.errors import OwnProject
from projects.models import Membership, Project, ProjectRole
from projects.states import ProjectState

Action = Literal[
    "read",
    "run_jobs",
    "edit",
    "reclassify",
    "submit",
    "withdraw",
    "manage_members",
    "decide",
    "suspend",
    "resume",
    "close",
    "set_tier",
]

PERMISSIONS = {ProjectRole.LEAD: "lead_project", ProjectRole.RESEARCHER: "research_project"}
"""The one object permission that stands for each role."""

SEES_ALL = frozenset({Role.DIRECTOR, Role.ADMIN, Role.AUDITOR})
IN_ITS_FAVOUR: frozenset[Action] = frozenset({"decide", "resume", "set_tier", "reclassify"})
"""Acts that are never for the project's own people, past ones included, whatever else they are."""

_LEAD, _RESEARCHER = ProjectRole.LEAD, ProjectRole.RESEARCHER
_ALLOWED: dict[Action, frozenset[ProjectRole | Role]] = {
    "read": frozenset({_LEAD, _RESEARCHER}) | SEES_ALL,
    "run_jobs": frozenset({_LEAD, _RESEARCHER}),
    "edit": frozenset({_LEAD}),
    "reclassify": frozenset({Role.ADMIN}),
    "submit": frozenset({_LEAD}),
    "withdraw": frozenset({_LEAD}),
    "manage_members": frozenset({_LEAD, Role.ADMIN}),
    "decide": frozenset({Role.ADMIN, Role.DIRECTOR}),
    "suspend": frozenset({Role.ADMIN}),
    "resume": frozenset({Role.ADMIN}),
    "close": frozenset({_LEAD, Role.ADMIN}),
    "set_tier": frozenset({Role.ADMIN}),
}
_ACTION_OF_EVENT: dict[str, Action] = {
    "submit": "submit",
    "withdraw": "withdraw",
    "approve": "decide",
    "reject": "decide",
    "return": "decide",
    "suspend": "suspend",
    "resume": "resume",
    "close": "close",
}
EDITABLE = frozenset({ProjectState.DRAFT, ProjectState.ACTIVE, ProjectState.SUSPENDED})
STAFFED = EDITABLE | {ProjectState.SUBMITTED}
"""States in which the team may change."""
APPROVED = frozenset({ProjectState.ACTIVE, ProjectState.SUSPENDED})


@dataclass(frozen=True, slots=True)
class Standing:
    """What a person is to a project."""

    role: ProjectRole | None
    organisation: frozenset[Role]
    is_own: bool
    """Member now or ever, creator, or who submitted it: nobody leaves to decide and comes back."""

    def may(self, action: Action) -> bool:
        held = self.organisation if self.role is None else self.organisation | {self.role}
        return not _ALLOWED[action].isdisjoint(held) and not (self.is_own and action in IN_ITS_FAVOUR)


def visible_to(person: object) -> QuerySet[Project]:
    """The projects whose existence this person may know of. Every query of a screen starts here."""
    if not isinstance(person, Person) or not person.is_active:
        return Project.objects.none()
    if has_role(person, *SEES_ALL):
        return Project.objects.all()
    visible: QuerySet[Project] = get_objects_for_user(
        person,
        [f"projects.{codename}" for codename in PERMISSIONS.values()],
        klass=Project,
        any_perm=True,
        use_groups=False,
        with_superuser=False,
        accept_global_perms=False,
    )
    return visible


def role_on(person: object, project: Project) -> ProjectRole | None:
    """The role held now; somebody deactivated holds none."""
    if not isinstance(person, Person) or not person.is_active:
        return None
    held = set(get_user_perms(person, project))
    return next((role for role, codename in PERMISSIONS.items() if codename in held), None)


def standing(person: object, project: Project) -> Standing:
    """Three facts about a person and a project, from which every answer is computed."""
    role, organisation = role_on(person, project), organisation_roles(person)
    asked = {project.created_by_id, project.submitted_by_id}
    is_own = role is not None or (isinstance(person, Person) and person.pk in asked)
    if not is_own and organisation and isinstance(person, Person):
        # Only for those who could decide: nobody else's rights depend on it.
        is_own = Membership.objects.filter(project=project, person=person).exists()
    return Standing(role, organisation, is_own)


def may(person: object, action: Action, project: Project) -> bool:
    """Whether the person's rights allow this, whatever the project's state."""
    return standing(person, project).may(action)


def require(person: object, action: Action, project: Project) -> Person:
    """The person, who may do this. Raises ``Unauthenticated``, ``NotFound`` (stranger) or ``Forbidden``."""
    someone = require_signed_in(person)
    here = standing(someone, project)
    if not here.may("read"):
        raise NotFound
    if here.may(action):
        return someone
    if here.is_own and action in IN_ITS_FAVOUR and not _ALLOWED[action].isdisjoint(here.organisation):
        raise OwnProject(data={"action": action})
    message = _("This needs the role: %(roles)s.") % {"roles": _labels(_ALLOWED[action])}
    raise Forbidden(message, data={"action": action, "roles": sorted(_ALLOWED[action])})


def can_now(person: object, project: Project) -> list[str]:
    """What the person could do at this moment: rights and state together, as the API's ``can``."""
    here = standing(person, project)
    state = ProjectState(project.state)
    can = {event for event in Project.machine.events(state) if here.may(_ACTION_OF_EVENT[event])}
    by_state: dict[Action, Iterable[ProjectState]] = {
        "edit": EDITABLE,
        "reclassify": APPROVED,
        "manage_members": STAFFED,
        "set_tier": APPROVED,
        "run_jobs": {ProjectState.ACTIVE},
    }
    can |= {action for action, states in by_state.items() if state in states and here.may(action)}
    return sorted(can)


def _labels(roles: Iterable[ProjectRole | Role]) -> str:
    return ", ".join(sorted(str(role.label) for role in roles))
