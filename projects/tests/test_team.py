"""The team: membership and object permission always say the same; a project keeps an active lead."""

from contextlib import suppress
from typing import Any

import pytest
from guardian.shortcuts import get_user_perms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Person
from accounts.tests import factories as people
from kernel.errors import PortalError
from kernel.tests.examples import examples
from projects import policies, selectors, services
from projects.models import Membership, Project, ProjectChange, ProjectUserObjectPermission
from projects.tests import factories


def url(project: Project, tail: str = "") -> str:
    return f"/api/v1/projects/{project.pk}/members/{tail}"


def permissions(project: Project) -> set[tuple[int, str]]:
    rows = ProjectUserObjectPermission.objects.filter(content_object=project)
    return set(rows.values_list("user_id", "permission__codename"))


def memberships(project: Project) -> set[tuple[int, str]]:
    names = {"lead": "lead_project", "researcher": "research_project"}
    rows = Membership.objects.filter(project=project, left_at__isnull=True)
    return {(person_id, names[role]) for person_id, role in rows.values_list("person_id", "role")}


ACT = st.tuples(
    st.sampled_from(["add", "change", "remove", "deactivate"]),
    st.integers(0, 3),
    st.sampled_from(["lead", "researcher", "owner"]),
    st.integers(0, 4),
)


class TeamProperty(TestCase):
    @settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
    @given(acts=st.lists(ACT, max_size=10))
    def test_permission_and_membership_agree_whatever_happens(self, acts: list[tuple[str, int, str, int]]) -> None:
        crew = [people.person() for _index in range(4)]
        project = factories.active_project(lead=crew[0])
        actors = [*crew, factories.admin()]
        for what, index, role, by in acts:
            with suppress(PortalError):
                _do(what, project, crew[index], role, actors[by])
            assert permissions(project) == memberships(project)
            leads = [row for row in selectors.members(project) if row.role == "lead"]
            assert leads
            for person in crew:
                fresh = Person.objects.get(pk=person.pk)
                live = dict(memberships(project)).get(fresh.pk)
                assert (policies.role_on(fresh, project) is not None) == (live is not None and fresh.is_active)


def _do(what: str, project: Project, person: Person, role: str, actor: Person) -> None:
    given_: dict[str, Any] = {"actor": Person.objects.get(pk=actor.pk), "project_id": project.pk}
    if what == "add":
        services.member_add(**given_, person=str(person.username), role=role)
    elif what == "change":
        services.member_change_role(**given_, person_id=person.pk, role=role)
    elif what == "remove":
        services.member_remove(**given_, person_id=person.pk)
    else:
        people.off_board(person)


@pytest.mark.django_db
def test_add_change_and_take_off_over_the_api() -> None:
    lead, newcomer = people.person(), people.person("newcomer", display_name="新人")
    project = factories.active_project(lead=lead)
    client = people.api_client(lead)
    added = client.post(url(project), {"person": "NEWCOMER"})
    assert (added.status_code, added.json()["role"]) == (201, "researcher")
    assert client.post(url(project), {"person": newcomer.pk}).json()["code"] == "already_member"
    assert [row["person"]["username"] for row in client.get(url(project)).json()["results"]] == [
        lead.username,
        "newcomer",
    ]
    assert client.patch(url(project, f"{newcomer.pk}/"), {"role": "lead"}).json()["role"] == "lead"
    assert client.patch(url(project, f"{newcomer.pk}/"), {"role": "lead"}).status_code == 409
    assert set(get_user_perms(newcomer, project)) == {"lead_project"}
    assert client.delete(url(project, f"{newcomer.pk}/")).status_code == 204
    assert client.delete(url(project, f"{newcomer.pk}/")).status_code == 404
    assert not policies.visible_to(newcomer).exists()
    lines = ProjectChange.objects.filter(project=project, field="member").order_by("id")[1:]
    told = [(_said(row.before, "role"), _said(row.after, "role")) for row in lines]
    assert told == [(None, "researcher"), ("researcher", "lead"), ("lead", None)]
    assert {_said(row.before, "person") or _said(row.after, "person") for row in lines} == {"新人"}
    spans = Membership.objects.filter(project=project, person=newcomer).order_by("id")
    assert [(row.role, row.left_at is None) for row in spans] == [("researcher", False), ("lead", False)]


def _said(value: Any, key: str) -> Any:
    return value[key] if value else None


@pytest.mark.django_db
def test_who_manages_the_team() -> None:
    lead, researcher, other = people.person(), people.person(), people.person()
    project = factories.active_project(lead=lead, researchers=(researcher,))
    body = {"person": other.username, "role": "researcher"}
    for someone, code in [
        (people.person(), 404),
        (researcher, 403),
        (people.auditor(), 403),
        (people.director(), 403),
        (people.admin(), 201),
    ]:
        assert people.api_client(someone).post(url(project), body).status_code == code
    assert people.api_client(researcher).delete(url(project, f"{other.pk}/")).status_code == 403
    assert people.api_client(researcher).delete(url(project, f"{researcher.pk}/")).status_code == 204


@pytest.mark.django_db
def test_the_last_active_lead_stays() -> None:
    lead, second = people.person(), people.person()
    project = factories.active_project(lead=lead, researchers=(second,))
    client = people.api_client(lead)
    assert client.delete(url(project, f"{lead.pk}/")).json()["code"] == "last_lead"
    assert client.patch(url(project, f"{lead.pk}/"), {"role": "researcher"}).json()["code"] == "last_lead"
    client.patch(url(project, f"{second.pk}/"), {"role": "lead"})
    people.off_board(second)
    assert client.delete(url(project, f"{lead.pk}/")).json()["code"] == "last_lead"
    assert client.delete(url(project, f"{second.pk}/")).status_code == 404, "the off-boarding took them off"


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["nobody", "gone", "٣", "9" * 30, "1" * 18])
def test_nobody_is_added_by_mistake(who: str) -> None:
    lead = people.person()
    people.deactivated("gone")
    project = factories.active_project(lead=lead)
    refused = people.api_client(lead).post(url(project), {"person": who})
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["person"]


@pytest.mark.django_db
def test_the_team_of_a_closed_project_stays_as_it_was() -> None:
    lead = people.person()
    project = factories.closed_project(lead=lead)
    refused = people.api_client(lead).post(url(project), {"person": people.person().username})
    assert refused.json()["code"] == "not_editable"
