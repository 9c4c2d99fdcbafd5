"""Rights are computed from one object permission and the organisation-wide roles, and from nothing else."""

import pytest
from django.contrib.auth.models import AnonymousUser, Permission

from accounts.models import Person, Role
from accounts.tests import factories as people
from kernel.errors import Forbidden, NotFound, Unauthenticated
from projects import policies, selectors, services
from projects.errors import OwnMembership, OwnProject
from projects.models import ProjectRole
from projects.policies import Action, Standing
from projects.tests import factories

LEAD, RESEARCHER = ProjectRole.LEAD, ProjectRole.RESEARCHER
MAY: dict[Action, set[str]] = {
    "read": {"lead", "researcher", "admin", "director", "auditor"},
    "run_jobs": {"lead", "researcher"},
    "edit": {"lead"},
    "reclassify": {"admin"},
    "submit": {"lead"},
    "withdraw": {"lead"},
    "manage_members": {"lead", "admin"},
    "suspend": {"admin"},
    "resume": {"admin"},
    "close": {"lead", "admin"},
    "set_tier": {"admin"},
}


@pytest.mark.parametrize("action", list(MAY))
def test_matrix_of_one_role(action: Action) -> None:
    for role in ProjectRole:
        assert Standing(role, frozenset(), is_own=True).may(action) == (role in MAY[action]), role
    for organisation in Role:
        held = frozenset({organisation})
        assert Standing(None, held, is_own=False).may(action) == (organisation in MAY[action]), organisation
    assert not Standing(None, frozenset(), is_own=False).may(action)


@pytest.mark.parametrize("action", list(MAY))
def test_no_role_helps_in_favour_of_an_own_project(action: Action) -> None:
    everything = Standing(LEAD, frozenset(Role), is_own=True)
    assert everything.may(action) == (action not in {"resume", "set_tier", "reclassify"})


@pytest.mark.django_db
def test_visible_to_members_and_those_who_see_all() -> None:
    lead, researcher, stranger = people.person(), people.person(), people.person()
    project = factories.active_project(lead=lead, researchers=(researcher,))
    other = factories.draft_project()
    assert set(policies.visible_to(lead)) == {project}
    assert set(policies.visible_to(researcher)) == {project}
    assert not policies.visible_to(stranger).exists()
    for someone in (people.admin(), people.director(), people.auditor()):
        assert set(policies.visible_to(someone)) == {project, other}


@pytest.mark.django_db
def test_the_framework_s_superuser_and_model_permissions_are_no_role() -> None:
    project = factories.active_project()
    someone = people.person()
    Person.objects.filter(pk=someone.pk).update(is_superuser=True)
    someone = Person.objects.get(pk=someone.pk)
    someone.user_permissions.set(Permission.objects.filter(content_type__app_label="projects"))
    assert not policies.visible_to(someone).exists()
    assert policies.role_on(someone, project) is None
    with pytest.raises(NotFound):
        policies.require(someone, "read", project)


@pytest.mark.django_db
def test_nobody_signed_in_sees_nothing() -> None:
    project = factories.active_project()
    assert not policies.visible_to(AnonymousUser()).exists()
    with pytest.raises(Unauthenticated):
        policies.require(AnonymousUser(), "read", project)


@pytest.mark.django_db
@pytest.mark.parametrize("role", list(Role))
def test_who_is_deactivated_can_do_nothing_at_once(role: Role) -> None:
    lead = people.person("was-lead", role)
    factories.admin()
    project = factories.draft_project(lead=lead)
    people.off_board(lead, successors={str(project.pk): None})
    fresh = Person.objects.get(pk=lead.pk)
    assert not policies.visible_to(fresh).exists()
    assert policies.role_on(fresh, project) is None
    # The object that was read before the deactivation does not help either.
    assert lead.is_active
    with pytest.raises(Unauthenticated):
        services.project_submit(actor=lead, project_id=project.pk)


@pytest.mark.django_db
def test_stranger_and_member_are_refused_differently() -> None:
    researcher = people.person()
    project = factories.active_project(researchers=(researcher,))
    with pytest.raises(NotFound):
        policies.require(people.person(), "edit", project)
    with pytest.raises(Forbidden) as refusal:
        policies.require(researcher, "edit", project)
    assert "Project lead" in refusal.value.message


@pytest.mark.django_db
def test_a_role_that_was_taken_away_no_longer_decides() -> None:
    director = people.director()
    project = factories.submitted_project()
    policies.require(director, "read", project)  # Remembers the roles on this object.
    director.role_grants.update(revoked_at="2026-01-01T00:00Z")
    with pytest.raises(NotFound):
        services.project_decide(answer="approve", actor=director, project_id=project.pk)
    project.refresh_from_db()
    assert project.state == "submitted"


@pytest.mark.django_db
def test_nobody_decides_on_an_own_project() -> None:
    creator = people.admin("creator")
    project = factories.submitted_project(lead=creator)
    second = people.director("second-lead")
    services.member_add(actor=creator, project_id=project.pk, person="second-lead", role="lead")
    services.member_add(actor=creator, project_id=project.pk, person=str(people.admin("member").pk), role="researcher")
    member = Person.objects.get(username="member")
    for someone in (creator, second, member):
        with pytest.raises(OwnProject):
            services.project_decide(answer="approve", actor=someone, project_id=project.pk)
        assert "approve" not in selectors.project_detail(someone, project.pk).can
    # Leaving does not make it another's project.
    services.member_remove(actor=creator, project_id=project.pk, person_id=creator.pk)
    with pytest.raises(OwnProject):
        services.project_decide(answer="approve", actor=creator, project_id=project.pk)


@pytest.mark.django_db
def test_nobody_leaves_a_project_to_decide_on_it_and_come_back() -> None:
    lead, admin = people.person(), people.admin("member")
    project = factories.draft_project(lead=lead)
    services.member_add(actor=lead, project_id=project.pk, person="member", role="researcher")
    services.project_submit(actor=lead, project_id=project.pk)
    services.member_remove(actor=admin, project_id=project.pk, person_id=admin.pk)
    with pytest.raises(OwnProject):
        services.project_decide(answer="approve", actor=admin, project_id=project.pk)
    assert "approve" not in selectors.project_detail(admin, project.pk).can
    with pytest.raises(OwnMembership):
        services.member_add(actor=admin, project_id=project.pk, person="member", role="lead")


@pytest.mark.django_db
def test_an_admin_neither_joins_a_project_nor_rises_on_it_by_their_own_act() -> None:
    lead, admin = people.person(), people.admin("boss")
    project = factories.active_project(lead=lead)
    with pytest.raises(OwnMembership):
        services.member_add(actor=admin, project_id=project.pk, person="boss", role="lead")
    services.member_add(actor=lead, project_id=project.pk, person="boss", role="researcher")
    with pytest.raises(OwnMembership):
        services.member_change_role(actor=admin, project_id=project.pk, person_id=admin.pk, role="lead")
    assert policies.role_on(Person.objects.get(pk=admin.pk), project) == RESEARCHER
    # Stepping down is nobody's gain.
    services.member_add(actor=lead, project_id=project.pk, person=people.person("heir").username, role="lead")
    services.member_change_role(actor=lead, project_id=project.pk, person_id=lead.pk, role="researcher")
