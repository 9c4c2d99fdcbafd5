"""The team. A membership and its object permission are written together, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import Permission
from django.utils.translation import gettext as _
from guardian.shortcuts import assign_perm, remove_perm

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.ids import NO_ROW, id_in
from kernel.unit import unit_of_work
from projects import policies
from projects.errors import AlreadyMember, LastLead, NotEditable, OwnMembership
from projects.models import Membership, Project, ProjectChange, ProjectRole, ProjectUserObjectPermission
from projects.services.acts import begin, note
from projects.states import ProjectState

BATCH = 1000


@dataclass(frozen=True, slots=True)
class MemberAsked:
    """Somebody by user name or id, and the role."""

    person: str
    role: str


def member_add(*, actor: Person | None, project_id: int, person: str, role: str) -> Membership:
    """Put somebody with an active account on the team. ``person`` is an id or a user name. Locks both.

    Raises ``Invalid`` for nobody, somebody deactivated or an unknown role; ``AlreadyMember``; ``NotEditable``;
    ``OwnMembership``.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "manage_members", joining=_found(person))
        _require_staffed(project)
        newcomer, in_role = _active_person(person), _role(role)
        if Membership.objects.filter(project=project, person=newcomer, left_at__isnull=True).exists():
            raise AlreadyMember(data={"person": newcomer.pk})
        if newcomer == someone:
            raise OwnMembership
        membership = join(project, newcomer, in_role, by=someone)
        audit.record("project.member_added", actor=someone, subject=project, after=plain(newcomer, in_role))
    return membership


def member_change_role(*, actor: Person | None, project_id: int, person_id: int, role: str) -> Membership:
    """Give a member another role: the time in the old one ends, the time in the new one begins. Locks both.

    Raises ``LastLead``, ``NotFound`` for somebody not on the team, ``Conflict`` for the role already held,
    ``OwnMembership``.
    """
    with unit_of_work():
        member = Person.objects.filter(pk=person_id).first()
        someone, project = begin(actor, project_id, "manage_members", joining=member)
        _require_staffed(project)
        membership, new = _live(project, person_id), _role(role)
        old = ProjectRole(membership.role)
        if new == old:
            raise Conflict(_("%(person)s is %(role)s already.") % {"person": membership.person, "role": new.label})
        if not membership.person.is_active:
            raise Invalid({"person": _inactive(membership.person)})
        if old == ProjectRole.LEAD:
            _require_another_lead(membership)
        elif membership.person == someone:
            raise OwnMembership
        _end(membership)
        changed = _begin(project, membership.person, new, by=someone)
        note(project, "member", plain(membership.person, old), plain(membership.person, new), someone)
        before, after = plain(membership.person, old), plain(membership.person, new)
        audit.record("project.member_role_changed", actor=someone, subject=project, before=before, after=after)
    return changed


def member_remove(*, actor: Person | None, project_id: int, person_id: int) -> None:
    """Take somebody off the team; everybody may leave. The membership stays as history. Locks the project.

    Raises ``LastLead``, ``NotFound`` for somebody not on the team, ``NotEditable``.
    """
    with unit_of_work():
        is_leaving = actor is not None and actor.pk == person_id
        someone, project = begin(actor, project_id, "read" if is_leaving else "manage_members")
        membership = _live(project, person_id)
        _require_staffed(project)
        role = ProjectRole(membership.role)
        if role == ProjectRole.LEAD:
            _require_another_lead(membership)
        _end(membership)
        gone = plain(membership.person, role)
        note(project, "member", gone, None, someone)
        audit.record("project.member_removed", actor=someone, subject=project, before=gone)


def join(project: Project, person: Person, role: ProjectRole, *, by: Person) -> Membership:
    """Begin a membership and write the history; the caller holds the lock and has judged the rights."""
    membership = _begin(project, person, role, by=by)
    note(project, "member", None, plain(person, role), by)
    return membership


def newcomers(asked: Sequence[MemberAsked]) -> list[Person]:
    """Who is meant, as far as there is such a person: to be locked before ``join_from_start``."""
    return [found for row in asked if (found := _found(row.person.strip()))]


def join_from_start(project: Project, asked: Sequence[MemberAsked], *, by: Person) -> None:
    """Put these people on the team of a project that this unit has just made; ``by`` is on it already.

    Raises ``Invalid`` with the faults of ``team_faults``.
    """
    faults = team_faults(asked, by=by)
    if faults:
        raise Invalid(faults)
    for row in asked:
        newcomer, in_role = _active_person(row.person.strip()), _role(row.role)
        join(project, newcomer, in_role, by=by)
        audit.record("project.member_added", actor=by, subject=project, after=plain(newcomer, in_role))


def team_faults(asked: Sequence[MemberAsked], *, by: Person) -> dict[str, list[str]]:
    """Every row that cannot be taken: nobody, deactivated, twice, an unknown role."""
    faults: dict[str, list[str]] = {}
    here = {by.pk}
    for index, row in enumerate(asked):
        try:
            newcomer, _in_role = _active_person(row.person.strip()), _role(row.role)
        except Invalid as refusal:
            faults |= {f"team.{index}.{field}": texts for field, texts in refusal.errors.items()}
            continue
        if newcomer.pk in here:
            faults[f"team.{index}.person"] = [_("%(person)s is on the team already.") % {"person": newcomer}]
        here.add(newcomer.pk)
    return faults


def lead_new(leads: Sequence[tuple[Project, Person]], *, by: Person) -> None:
    """The first lead of each of these new projects, written as ``join`` does, in few statements."""
    now = clock.now()
    codename = policies.PERMISSIONS[ProjectRole.LEAD]
    permission = Permission.objects.get(codename=codename, content_type__app_label="projects")
    ProjectUserObjectPermission.objects.bulk_create(
        [ProjectUserObjectPermission(content_object=row, user=lead, permission=permission) for row, lead in leads],
        batch_size=BATCH,
    )
    Membership.objects.bulk_create(
        [
            Membership(project=row, person=lead, role=ProjectRole.LEAD, joined_at=now, added_by=by)
            for row, lead in leads
        ],
        batch_size=BATCH,
    )
    notes = [(row, plain(lead, ProjectRole.LEAD)) for row, lead in leads]
    ProjectChange.objects.bulk_create(
        [ProjectChange(project=row, field="member", before=None, after=after, at=now, by=by) for row, after in notes],
        batch_size=BATCH,
    )


def _begin(project: Project, person: Person, role: ProjectRole, *, by: Person) -> Membership:
    assign_perm(policies.PERMISSIONS[role], person, project)
    return Membership.objects.create(project=project, person=person, role=role, joined_at=clock.now(), added_by=by)


def _end(membership: Membership) -> None:
    remove_perm(policies.PERMISSIONS[ProjectRole(membership.role)], membership.person, membership.project)
    membership.left_at = clock.now()
    membership.save(update_fields=["left_at"])


def _live(project: Project, person_id: int) -> Membership:
    rows = Membership.objects.select_related("person", "project")
    membership = rows.filter(project=project, person_id=person_id, left_at__isnull=True).first()
    if membership is None:
        raise NotFound(_("This person is not on the project."))
    return membership


def _require_another_lead(leaving: Membership) -> None:
    others = Membership.objects.filter(
        project_id=leaving.project_id, role=ProjectRole.LEAD, left_at__isnull=True, person__is_active=True
    ).exclude(pk=leaving.pk)
    if not others.exists():
        raise LastLead


def _require_staffed(project: Project) -> None:
    if project.state not in policies.STAFFED:
        text = _("The team of a project that is %(state)s does not change any more.")
        raise NotEditable(text % {"state": ProjectState(project.state).label}, data={"state": project.state})


def _found(person: str) -> Person | None:
    """By user name, else by id."""
    by_name = Person.objects.filter(username__iexact=person).first()
    return by_name or Person.objects.filter(pk=id_in(person) or NO_ROW).first()


def _active_person(person: str) -> Person:
    """Raises ``Invalid``: nobody is added by mistake, nobody who is gone."""
    found = _found(person)
    if found is None:
        raise Invalid({"person": _("Nobody has the user name “%(name)s”.") % {"name": person[:60]}})
    if not found.is_active:
        raise Invalid({"person": _inactive(found)})
    return found


def _inactive(person: Person) -> str:
    return _("The account of %(name)s is deactivated.") % {"name": person}


def _role(role: str) -> ProjectRole:
    if role not in ProjectRole.values:
        text = _("“%(role)s” is not one of: %(allowed)s.")
        raise Invalid({"role": text % {"role": role[:60], "allowed": ", ".join(ProjectRole.values)}})
    return ProjectRole(role)


def plain(person: Person, role: ProjectRole) -> dict[str, str | int]:
    """A membership as history and audit log keep it."""
    return {"person_id": person.pk, "username": person.username, "person": str(person), "role": str(role)}
