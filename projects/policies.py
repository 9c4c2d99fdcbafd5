"""Who may do what on a project. A role on a project is an object permission; what it allows is computed here."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from guardian.shortcuts import get_objects_for_user

from accounts.models import Person, Role
from accounts.policies import has_role, organisation_roles, require_signed_in
from kernel.errors import Forbidden, NotFound
from projects.errors import OwnProject
from projects.models import Membership, Project, ProjectImport, ProjectRole, ProjectUserObjectPermission
from projects.states import ProjectState

Action = Literal[
    "read",
    "run_jobs",
    "edit",
    "reclassify",
    "submit",
    "withdraw",
    "manage_members",
    "suspend",
    "resume",
    "close",
    "set_tier",
    "measure",
    "judge_measurement",
    "request_quota",
]

PERMISSIONS = {ProjectRole.LEAD: "lead_project", ProjectRole.RESEARCHER: "research_project"}
"""The one object permission that stands for each role."""

SEES_ALL = frozenset({Role.DIRECTOR, Role.ADMIN, Role.AUDITOR})
IN_ITS_FAVOUR: frozenset[Action] = frozenset({"resume", "set_tier", "reclassify", "judge_measurement"})
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
    "suspend": frozenset({Role.ADMIN}),
    "resume": frozenset({Role.ADMIN}),
    "close": frozenset({_LEAD, Role.ADMIN}),
    "set_tier": frozenset({Role.ADMIN}),
    "measure": frozenset({_LEAD}),
    "judge_measurement": frozenset({Role.ADMIN}),
    "request_quota": frozenset({_LEAD}),
}
_STEPS: tuple[Action, ...] = ("submit", "withdraw", "suspend", "resume", "close")
"""Acts that are events of the state machine; the others of its events are votes."""
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
    return _roles_on(person, [project]).get(project.pk)


def standing(person: object, project: Project) -> Standing:
    """Three facts about a person and a project, from which every answer is computed."""
    return standings(person, [project])[project.pk]


def standings(person: object, projects: Collection[Project]) -> dict[int, Standing]:
    """The same for many projects by id, in as many statements as for one."""
    roles, organisation = _roles_on(person, projects), organisation_roles(person)
    own = {project.pk for project in projects if project.pk in roles or _asked_by(person, project)}
    others = [project.pk for project in projects if project.pk not in own]
    if others and organisation and isinstance(person, Person):
        # Only for those who could decide: nobody else's rights depend on it.
        own |= set(Membership.objects.filter(project__in=others, person=person).values_list("project_id", flat=True))
    return {project.pk: Standing(roles.get(project.pk), organisation, project.pk in own) for project in projects}


def _roles_on(person: object, projects: Collection[Project]) -> dict[int, ProjectRole]:
    if not isinstance(person, Person) or not person.is_active:
        return {}
    held = ProjectUserObjectPermission.objects.filter(user=person, content_object__in=[row.pk for row in projects])
    found = set(held.values_list("content_object_id", "permission__codename"))
    return {
        project.pk: role
        for project in projects
        for role, codename in reversed(PERMISSIONS.items())
        if (project.pk, codename) in found
    }


def _asked_by(person: object, project: Project) -> bool:
    return isinstance(person, Person) and person.pk in {project.created_by_id, project.submitted_by_id}


def visible_imports(person: object) -> QuerySet[ProjectImport]:
    """An import, with its file and report, is seen and worked on by its owner alone."""
    if not isinstance(person, Person) or not person.is_active:
        return ProjectImport.objects.none()
    return ProjectImport.objects.filter(owner=person)


def may_name_leads(person: object) -> bool:
    """Whether this person may register a project for somebody else to lead."""
    return has_role(person, Role.ADMIN)


def own_of(person: Person) -> QuerySet[Project]:
    """The projects on whose side this person is or was, as ``Standing.is_own`` says it of one."""
    asked = Q(created_by=person) | Q(submitted_by=person)
    ever = Membership.objects.filter(person=person).values("project")
    return Project.objects.filter(asked | Q(pk__in=ever))


def may(person: object, action: Action, project: Project) -> bool:
    """Whether the person's rights allow this, whatever the project's state."""
    return standing(person, project).may(action)


def require(person: object, action: Action, project: Project) -> Person:
    """The person, who may do this. Raises ``Unauthenticated``, ``NotFound`` (stranger) or ``Forbidden``."""
    someone = require_signed_in(person)
    judge(standing(someone, project), action)
    return someone


def judge(here: Standing, action: Action) -> None:
    """Nothing, where this is allowed. Raises ``NotFound`` (stranger) or ``Forbidden``."""
    if not here.may("read"):
        raise NotFound
    if here.may(action):
        return
    if here.is_own and action in IN_ITS_FAVOUR and not _ALLOWED[action].isdisjoint(here.organisation):
        raise OwnProject(data={"action": action})
    message = _("This needs the role: %(roles)s.") % {"roles": _labels(_ALLOWED[action])}
    raise Forbidden(message, data={"action": action, "roles": sorted(_ALLOWED[action])})


def can_now(person: object, project: Project) -> list[str]:
    """What the person could do at this moment: rights and state together, as the API's ``can``."""
    return allowed_now(standing(person, project), project)


def allowed_now(here: Standing, project: Project) -> list[str]:
    """The same of a standing that is known already. What is decided by votes is not in it: approvals know that."""
    state = ProjectState(project.state)
    events = Project.machine.events(state)
    can: set[str] = {step for step in _STEPS if step in events and here.may(step)}
    by_state: dict[Action, Iterable[ProjectState]] = {
        "edit": EDITABLE,
        "reclassify": APPROVED,
        "manage_members": STAFFED,
        "set_tier": APPROVED,
        "run_jobs": {ProjectState.ACTIVE},
        "measure": STAFFED,
        "judge_measurement": STAFFED,
        "request_quota": {ProjectState.ACTIVE},
    }
    can |= {action for action, states in by_state.items() if state in states and here.may(action)}
    return sorted(can)


def _labels(roles: Iterable[ProjectRole | Role]) -> str:
    return ", ".join(sorted(str(role.label) for role in roles))
