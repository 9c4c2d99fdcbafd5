"""Off-boarding in the registry: memberships end, sole leads hand over, nothing slips in beside it."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.errors import Overtaken
from accounts.models import Offboarding, Person
from accounts.offboarding import steps
from accounts.services import Farewell, person_offboard
from accounts.tests import factories as people
from kernel.errors import Invalid, PortalError
from kernel.models import AuditEntry
from projects import policies, services
from projects.models import Membership, Project, ProjectChange, ProjectImport, ProjectRole, ProjectUserObjectPermission
from projects.states import ImportState, ProjectState
from projects.tests import factories, import_factories

pytestmark = pytest.mark.django_db
LONG = "蛋白质" * 60
MEMBERSHIPS, HANDED_OVER, WITHOUT = "projects.memberships", "projects.handed_over", "projects.without_lead"


def address(someone: Person) -> str:
    return f"/people/{someone.pk}/deactivate/"


def api(someone: Person) -> str:
    return f"/api/v1/people/{someone.pk}/deactivate/"


def team(project: Project) -> dict[str, str]:
    rows = Membership.objects.filter(project=project, left_at__isnull=True)
    return dict(rows.values_list("person__username", "role"))


def permitted(project: Project) -> set[tuple[str, str]]:
    rows = ProjectUserObjectPermission.objects.filter(content_object=project)
    return set(rows.values_list("user__username", "permission__codename"))


def counts(report: Offboarding) -> dict[str, int | None]:
    return {f"{row['room']}.{row['what']}": row["count"] for row in report.lines}


def fresh(someone: Person) -> Person:
    return Person.objects.get(pk=someone.pk)


@pytest.fixture
def ada() -> Person:
    return people.person("ada")


@pytest.fixture
def bea() -> Person:
    return people.person("bea")


@pytest.fixture
def chief() -> Person:
    return factories.admin()


# --- what ends and who takes over


def test_a_researcher_leaves_every_team_with_history(ada: Person, chief: Person) -> None:
    projects = [factories.active_project(researchers=(ada,)) for _ in range(2)]
    answer = people.browser(chief).post(address(ada), {"reason": "Left"})
    assert answer.status_code == 302
    for project in projects:
        assert "ada" not in team(project)
        assert "ada" not in {name for name, _codename in permitted(project)}
        line = ProjectChange.objects.filter(project=project, field="member").latest("pk")
        assert (line.after, line.by, (line.before or {})["person_id"]) == (None, chief, ada.pk)
        assert AuditEntry.objects.filter(action="project.member_removed", subject_id=str(project.pk)).count() == 1
    assert counts(Offboarding.objects.get()) == {"accounts.sessions": None, MEMBERSHIPS: 2}
    ended = Membership.objects.get(project=projects[0], person=ada)
    assert ended.left_at is not None


def test_the_page_suggests_who_is_on_the_team_and_hands_over(ada: Person, bea: Person, chief: Person) -> None:
    project = factories.active_project(lead=ada, researchers=(bea,), name=LONG)
    client = people.browser(chief)
    page = client.get(address(ada)).content.decode()
    assert f'name="successor-{project.pk}" value="bea"' in page
    done = client.post(address(ada), {"reason": "Left", f"successor-{project.pk}": "bea"}, follow=True)
    assert done.status_code == 200
    assert team(project) == {"bea": "lead"}
    assert permitted(project) == {("bea", "lead_project")}
    spans = Membership.objects.filter(project=project, person=bea).order_by("pk").values_list("role", "left_at")
    assert [(role, end is None) for role, end in spans] == [("researcher", False), ("lead", True)]
    assert AuditEntry.objects.filter(action="project.member_role_changed", subject_id=str(project.pk)).count() == 1
    report = Offboarding.objects.get()
    assert (counts(report)[MEMBERSHIPS], counts(report)[HANDED_OVER]) == (1, 1)
    assert f"/projects/{project.pk}" in done.content.decode()


def test_a_stranger_takes_over_by_the_api(ada: Person, bea: Person, chief: Person) -> None:
    project, other = factories.active_project(lead=ada), factories.active_project(lead=ada, researchers=(bea,))
    client = people.api_client(chief)
    refused = client.post(api(ada), {"reason": "Left", "successors": {str(project.pk): bea.pk}}, format="json")
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [f"successors.{other.pk}"]
    assert other.name in refused.json()["errors"][f"successors.{other.pk}"][0]
    assert (fresh(ada).is_active, team(project)) == (True, {"ada": "lead"})
    body = {"reason": "Left", "successors": {str(project.pk): bea.pk, str(other.pk): None}}
    done = client.post(api(ada), body, format="json")
    assert (done.status_code, done.json()["is_active"]) == (200, False)
    assert (team(project), team(other)) == ({"bea": "lead"}, {"bea": "researcher"})
    assert permitted(other) == {("bea", "research_project")}, "a successor of one keeps what they are on another"
    assert counts(Offboarding.objects.get())[WITHOUT] == 1
    assert policies.can_now(fresh(bea), project)


def test_a_project_left_without_a_lead_is_shown_and_gets_one_from_an_admin(ada: Person, chief: Person) -> None:
    project = factories.active_project(lead=ada)
    people.off_board(ada, actor=chief, successors={str(project.pk): None})
    client = people.browser(chief)
    for page in ("", "/members", "/history", "/jobs"):
        assert client.get(f"/projects/{project.pk}{page}").status_code == 200
    assert client.get("/projects").status_code == 200
    other = people.admin()
    answer = people.api_client(other).post(
        f"/api/v1/projects/{project.pk}/members/", {"person": people.person().username, "role": "lead"}
    )
    assert answer.status_code == 201


def test_a_second_lead_makes_no_question_unless_they_are_deactivated(ada: Person, bea: Person, chief: Person) -> None:
    project = factories.active_project(lead=ada)
    services.member_add(actor=ada, project_id=project.pk, person="bea", role=ProjectRole.LEAD)
    assert steps.successions_of(ada) == {}
    Person.objects.filter(pk=bea.pk).update(is_active=False)
    assert list(steps.successions_of(ada)) == [str(project.pk)]


@pytest.mark.parametrize(
    ("make", "asked"),
    [
        (factories.draft_project, True),
        (factories.submitted_project, True),
        (factories.active_project, True),
        (factories.suspended_project, True),
        (factories.closed_project, False),
        (factories.rejected_project, False),
    ],
)
def test_only_projects_that_are_not_over_need_a_successor(
    make: Callable[..., Project], asked: bool, ada: Person, bea: Person, chief: Person
) -> None:
    project = make(lead=ada)
    answers: dict[str, int | None] = {str(project.pk): bea.pk} if asked else {}
    if asked:
        with pytest.raises(Invalid):
            people.off_board(ada, actor=chief)
    people.off_board(ada, actor=chief, successors=answers)
    assert team(project) == ({"bea": "lead"} if asked else {})
    project.refresh_from_db()
    assert ProjectState(project.state) != ProjectState.SUSPENDED or make is factories.suspended_project


def test_imports_that_were_not_applied_are_discarded(chief: Person) -> None:
    ada = people.person("importer")
    rows = import_factories.in_every_state(ada, "Mine ")
    before = {name: ProjectImport.objects.get(pk=row.pk).state for name, row in rows.items() if _is_import(row)}
    answers: dict[str, int | None] = dict.fromkeys(steps.successions_of(ada))
    report = people.off_board(ada, actor=chief, successors=answers)
    waiting = {ImportState.UPLOADED, ImportState.CHECKING, ImportState.CHECKED, ImportState.FAILED}
    assert set(before.values()) & waiting
    for name, state in before.items():
        now = ProjectImport.objects.get(pk=rows[name].pk)
        assert now.state == (ImportState.DISCARDED if state in waiting else state)
    assert counts(report)["projects.imports"] == len([state for state in before.values() if state in waiting])


def _is_import(row: object) -> bool:
    return isinstance(row, ProjectImport)


def test_the_portal_itself_may_off_board(ada: Person, bea: Person) -> None:
    project = factories.active_project(lead=ada)
    people.off_board(ada, successors={str(project.pk): bea.pk})
    assert team(project) == {"bea": "lead"}
    assert AuditEntry.objects.filter(action="project.member_removed").latest("pk").actor_type == "portal"


# --- nobody who is gone


def test_who_is_gone_is_put_nowhere(ada: Person, bea: Person, chief: Person) -> None:
    project = factories.active_project(lead=ada)
    people.off_board(bea, actor=chief)
    for role in ProjectRole.values:
        with pytest.raises(Invalid, match="deactivated"):
            services.member_add(actor=ada, project_id=project.pk, person="bea", role=role)
    with pytest.raises(Invalid, match="deactivated"):
        people.off_board(ada, actor=chief, successors={str(project.pk): bea.pk})
    assert team(project) == {"ada": "lead"}


def test_a_member_who_is_gone_from_before_is_not_raised_to_lead(ada: Person, bea: Person) -> None:
    project = factories.active_project(lead=ada, researchers=(bea,))
    Person.objects.filter(pk=bea.pk).update(is_active=False)
    with pytest.raises(Invalid, match="deactivated"):
        services.member_change_role(actor=ada, project_id=project.pk, person_id=bea.pk, role=ProjectRole.LEAD)


# --- cost


def test_fifty_projects_cost_the_statements_of_one() -> None:
    """One of each kind of statement, whatever the number of projects and of successors. Measured: 51,
    five of them by the step of the approvals."""
    chief = factories.admin()

    def cost(projects: int) -> int:
        leaver, heirs = people.person(), [people.person() for _ in range(3)]
        made = [factories.draft_project(lead=leaver) for _ in range(projects)]
        for project in made[::2]:
            services.member_add(
                actor=leaver, project_id=project.pk, person=heirs[0].username, role=ProjectRole.RESEARCHER
            )
        answers: dict[str, int | None] = {str(row.pk): heirs[n % 3].pk for n, row in enumerate(made)}
        with CaptureQueriesContext(connection) as captured:
            people.off_board(leaver, actor=chief, successors=answers)
        return len(captured)

    cost(2)  # Kinds of content are read once in a process.
    few, many = cost(4), cost(50)
    assert many == few
    assert many <= 55


# --- at the same moment


def at_once(*acts: Callable[[], Any]) -> list[PortalError | None]:
    """Each in a connection of its own, begun together: what each was refused with, or None."""
    start = Barrier(len(acts), timeout=20)

    def run(act: Callable[[], Any]) -> PortalError | None:
        try:
            start.wait()
            act()
        except PortalError as refusal:
            return refusal
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(len(acts)) as pool:
        tries: list[Future[PortalError | None]] = [pool.submit(run, act) for act in acts]
        return [done.result(30) for done in tries]


@pytest.mark.django_db(transaction=True)
def test_nobody_is_added_while_they_are_off_boarded() -> None:
    lead, ada, chief = people.person("lead"), people.person("ada"), factories.admin()
    project = factories.active_project(lead=lead)
    added, gone = at_once(
        lambda: services.member_add(actor=lead, project_id=project.pk, person="ada", role="researcher"),
        lambda: person_offboard(actor=chief, person_id=ada.pk, farewell=Farewell("Left")),
    )
    if gone is None:
        assert added is None or isinstance(added, Invalid)
        assert not fresh(ada).is_active
        assert "ada" not in team(project)
    else:
        assert isinstance(gone, Overtaken)
        assert fresh(ada).is_active
        assert team(project)["ada"] == "researcher"
    assert permitted(project) == {
        (name, f"{'lead' if role == 'lead' else 'research'}_project") for name, role in team(project).items()
    }


@pytest.mark.django_db(transaction=True)
def test_both_leads_do_not_go_at_the_same_moment() -> None:
    """One leaves the project, the other is off-boarded: whoever comes second is refused, and a lead remains."""
    ada, bea, chief = people.person("ada"), people.person("bea"), factories.admin()
    project = factories.active_project(lead=ada)
    services.member_add(actor=ada, project_id=project.pk, person="bea", role=ProjectRole.LEAD)
    refused = at_once(
        lambda: services.member_remove(actor=bea, project_id=project.pk, person_id=bea.pk),
        lambda: person_offboard(actor=chief, person_id=ada.pk, farewell=Farewell("Left")),
    )
    assert [refusal is None for refusal in refused].count(True) == 1
    assert "lead" in team(project).values()
    if refused[1] is not None:
        assert list(refused[1].data["errors"]) == [f"successors.{project.pk}"]


@pytest.mark.django_db(transaction=True)
def test_a_successor_who_goes_at_the_same_moment_takes_nothing_over() -> None:
    ada, bea, first, second = people.person("ada"), people.person("bea"), factories.admin(), people.admin()
    project = factories.active_project(lead=ada)
    refused = at_once(
        lambda: people.off_board(ada, actor=first, successors={str(project.pk): bea.pk}),
        lambda: people.off_board(bea, actor=second),
    )
    assert [type(refusal) for refusal in refused].count(Invalid) == 1, "the second finds a question or no successor"
    live = Membership.objects.filter(project=project, left_at__isnull=True, person__is_active=True)
    assert live.get().role == ProjectRole.LEAD
