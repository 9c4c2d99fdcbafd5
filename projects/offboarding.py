"""What somebody who leaves gives up here: every membership ends, and who led alone hands over. In few statements."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import Permission
from django.utils.translation import gettext_lazy as _

from accounts.errors import Overtaken
from accounts.models import Person
from accounts.offboarding.steps import Item, Leaving, Line, OffboardingStep, Rows, Succession, register
from kernel import audit
from kernel.audit import Change
from kernel.states import transition
from projects import policies
from projects.models import Membership, Project, ProjectChange, ProjectImport, ProjectRole, ProjectUserObjectPermission
from projects.services.members import plain
from projects.states import ImportState

MEMBERSHIPS, HANDED_OVER, WITHOUT_LEAD, IMPORTS = "memberships", "handed_over", "without_lead", "imports"
BEFORE_APPLYING = (ImportState.UPLOADED, ImportState.CHECKING, ImportState.CHECKED, ImportState.FAILED)
AT_WORK = (ImportState.APPLYING, ImportState.UNDOING)
"""An import that is being written is locked, so that it has either ended or finds its owner gone and writes nothing."""


def _live(person_id: int) -> list[Membership]:
    rows = Membership.objects.filter(person_id=person_id, left_at__isnull=True)
    return list(rows.select_related("project", "person").order_by("project__name", "project_id"))


def _open_imports(person_id: int) -> list[ProjectImport]:
    return list(ProjectImport.objects.filter(owner_id=person_id, state__in=BEFORE_APPLYING).order_by("pk"))


def _locks(person_id: int) -> Rows:
    projects = Membership.objects.filter(person_id=person_id, left_at__isnull=True)
    imports = ProjectImport.objects.filter(owner_id=person_id, state__in=[*BEFORE_APPLYING, *AT_WORK])
    return {
        Project: list(projects.values_list("project_id", flat=True)),
        ProjectImport: list(imports.values_list("pk", flat=True)),
    }


def _preview(person: Person) -> list[Line]:
    memberships = [Item.of(row.project, row.get_role_display()) for row in _live(person.pk)]
    imports = [Item(row.file_name) for row in _open_imports(person.pk)]
    return [*Line.of(MEMBERSHIPS, memberships), *Line.of(IMPORTS, imports)]


def _successions(person: Person) -> list[Succession]:
    """The projects, not over yet, of which no other active person is a lead, each with its team, by time of joining."""
    led = [row.project for row in _live(person.pk) if row.role == ProjectRole.LEAD]
    led = [project for project in led if project.state in policies.STAFFED]
    others = Membership.objects.filter(project__in=led, left_at__isnull=True, person__is_active=True)
    teams: dict[int, list[Membership]] = {project.pk: [] for project in led}
    for row in others.exclude(person=person).select_related("person").order_by("joined_at", "pk"):
        teams[row.project_id].append(row)
    return [
        Succession(str(project.pk), Item.of(project), [row.person for row in teams[project.pk]])
        for project in led
        if all(row.role != ProjectRole.LEAD for row in teams[project.pk])
    ]


@dataclass(frozen=True, slots=True)
class _Handover:
    """A project and who leads it from now on; ``was``: their membership until now, if they were on the team."""

    project: Project
    successor: Person
    was: Membership | None


def _carry_out(leaving: Leaving) -> list[Line]:
    """Successors begin before the leaver ends, so that the history never shows a project without a lead."""
    leaves = _live(leaving.person.pk)
    if any(row.project_id not in leaving.locked[Project] for row in leaves):
        raise Overtaken
    handovers = _handovers(leaving, leaves)
    _hand_over(leaving, handovers)
    _end(leaves, leaving)
    _note(
        leaving, "project.member_removed", [_Told(row.project, plain(row.person, _role(row)), None) for row in leaves]
    )
    left = [row.project for row in leaves if _has_no_lead(leaving, row)]
    return [
        *Line.of(MEMBERSHIPS, [Item.of(row.project, row.get_role_display()) for row in leaves]),
        *Line.of(HANDED_OVER, [Item.of(row.project, row.successor) for row in handovers]),
        *Line.of(WITHOUT_LEAD, [Item.of(project) for project in left]),
        *Line.of(IMPORTS, _discard_imports(leaving)),
    ]


def _has_no_lead(leaving: Leaving, row: Membership) -> bool:
    key = str(row.project_id)
    return key in leaving.successors and leaving.successors[key] is None


def _handovers(leaving: Leaving, leaves: Iterable[Membership]) -> list[_Handover]:
    named = {row.project_id: successor for row in leaves if (successor := leaving.successors.get(str(row.project_id)))}
    rows = Membership.objects.filter(project__in=named, person__in=set(named.values()), left_at__isnull=True)
    until_now = {(row.project_id, row.person_id): row for row in rows.select_related("project", "person")}
    return [
        _Handover(row.project, successor, until_now.get((row.project_id, successor.pk)))
        for row in leaves
        if (successor := named.get(row.project_id))
    ]


def _hand_over(leaving: Leaving, handovers: list[_Handover]) -> None:
    """Each successor becomes lead; who was a researcher ends as one."""
    if not handovers:
        return
    _end([row.was for row in handovers if row.was], leaving)
    lead, by = ProjectRole.LEAD, leaving.actor
    permission = Permission.objects.get(codename=policies.PERMISSIONS[lead], content_type__app_label="projects")
    ProjectUserObjectPermission.objects.bulk_create(
        ProjectUserObjectPermission(content_object=row.project, user=row.successor, permission=permission)
        for row in handovers
    )
    Membership.objects.bulk_create(
        Membership(project=row.project, person=row.successor, role=lead, joined_at=leaving.at, added_by=by)
        for row in handovers
    )
    told = [_told_of(row) for row in handovers]
    _note(leaving, "project.member_added", [row for row in told if row.before is None])
    _note(leaving, "project.member_role_changed", [row for row in told if row.before is not None])


@dataclass(frozen=True, slots=True)
class _Told:
    project: Project
    before: dict[str, str | int] | None
    after: dict[str, str | int] | None


def _told_of(row: _Handover) -> _Told:
    before = plain(row.successor, _role(row.was)) if row.was else None
    return _Told(row.project, before, plain(row.successor, ProjectRole.LEAD))


def _note(leaving: Leaving, action: str, told: list[_Told]) -> None:
    """The project's own history and the audit log. Of the portal's own act the history names whom it is about."""
    by = leaving.actor or leaving.person
    ProjectChange.objects.bulk_create(
        ProjectChange(project=row.project, field="member", before=row.before, after=row.after, at=leaving.at, by=by)
        for row in told
    )
    audit.record_many(action, actor=leaving.actor, changes=[Change(row.project, row.before, row.after) for row in told])


def _end(rows: list[Membership], leaving: Leaving) -> None:
    """These memberships, and the object permissions that stand for them."""
    pairs = {(row.project_id, row.person_id) for row in rows}
    held = ProjectUserObjectPermission.objects.filter(
        content_object__in={project for project, _person in pairs}, user__in={person for _project, person in pairs}
    )
    found = held.values_list("pk", "content_object_id", "user_id")
    ProjectUserObjectPermission.objects.filter(
        pk__in=[pk for pk, project, person in found if (project, person) in pairs]
    ).delete()
    Membership.objects.filter(pk__in=[row.pk for row in rows]).update(left_at=leaving.at)


def _discard_imports(leaving: Leaving) -> list[Item]:
    """An import is its owner's alone; there are hardly ever two that wait, so each takes its own step."""
    rows = _open_imports(leaving.person.pk)
    for row in rows:
        if row.pk not in leaving.locked[ProjectImport]:
            raise Overtaken
        row.content, row.finished_at = None, leaving.at
        transition(row, "discard", actor=leaving.actor, fields=["content", "finished_at"])
    return [Item(row.file_name) for row in rows]


def _role(row: Membership) -> ProjectRole:
    return ProjectRole(row.role)


def register_step() -> None:
    """Called once, when the room is ready."""
    register(
        OffboardingStep(
            room="projects",
            title=_("Projects"),
            words={
                MEMBERSHIPS: _("Memberships of projects: ended"),
                HANDED_OVER: _("Projects handed over"),
                WITHOUT_LEAD: _("Projects left without a lead, as chosen"),
                IMPORTS: _("Imports of projects that were not applied: discarded"),
            },
            preview=_preview,
            carry_out=_carry_out,
            locks=_locks,
            successions=_successions,
        )
    )
