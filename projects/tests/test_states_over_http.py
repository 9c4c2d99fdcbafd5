"""Every state × event × role by HTTP: who may, who may not, and what the state refuses."""

from collections.abc import Callable

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from projects.models import Project
from projects.states import PROJECT, ProjectState
from projects.tests import factories

pytestmark = pytest.mark.django_db

MAKE: dict[str, Callable[..., Project]] = {
    "draft": factories.draft_project,
    "submitted": factories.submitted_project,
    "active": factories.active_project,
    "rejected": factories.rejected_project,
    "suspended": factories.suspended_project,
    "closed": factories.closed_project,
}
EVENTS = ["submit", "withdraw", "approve", "reject", "return", "suspend", "resume", "close"]
MAY = {
    "submit": {"lead"},
    "withdraw": {"lead"},
    "approve": {"admin", "director"},
    "reject": {"admin", "director"},
    "return": {"admin", "director"},
    "suspend": {"admin"},
    "resume": {"admin"},
    "close": {"admin", "lead"},
}
TO = {
    ("draft", "submit"): "submitted",
    ("draft", "close"): "closed",
    ("submitted", "approve"): "active",
    ("submitted", "reject"): "rejected",
    ("submitted", "return"): "draft",
    ("submitted", "withdraw"): "draft",
    ("active", "suspend"): "suspended",
    ("active", "close"): "closed",
    ("suspended", "resume"): "active",
    ("suspended", "close"): "closed",
}
ROLES = ["anonymous", "stranger", "researcher", "auditor", "lead", "director", "admin"]


def cast(lead: Person, project: Project) -> dict[str, Person | None]:
    """One person per role; the researcher is on this project."""
    researcher = people.person()
    factories.enrol(project, researcher)
    return {
        "anonymous": None,
        "stranger": people.person(),
        "researcher": researcher,
        "auditor": people.auditor(),
        "lead": lead,
        "director": people.director(),
        "admin": people.admin(),
    }


def expected(state: str, event: str, role: str) -> int:
    if role == "anonymous":
        return 401
    if role == "stranger":
        return 404
    if role not in MAY[event]:
        return 403
    return 200 if (state, event) in TO else 409


def test_the_table_here_is_the_table_of_the_machine() -> None:
    assert {(str(state), event): str(to) for (state, event), to in PROJECT.table.items()} == TO


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", ProjectState.values)
def test_step(state: str, event: str) -> None:
    lead = people.person()
    project = MAKE[state](lead=lead)
    roles = cast(lead, project)
    body = {} if event == "submit" else {"reason": "Because"}
    # Those who succeed come last: after one of them the state is another.
    for role in sorted(ROLES, key=lambda role: expected(state, event, role) == 200):
        if expected(state, event, role) == 200:
            project = MAKE[state](lead=lead)
        response = people.api_client(roles[role]).post(f"/api/v1/projects/{project.pk}/{event}/", body, format="json")
        assert response.status_code == expected(state, event, role), (role, response.content)
        project.refresh_from_db()
        after = TO[state, event] if response.status_code == 200 else state
        assert project.state == after, role
        if response.status_code == 200:
            assert response.json()["state"] == after


@pytest.mark.parametrize("event", ["reject", "return", "suspend", "close"])
def test_a_reason_is_needed(event: str) -> None:
    project = factories.submitted_project() if event in ("reject", "return") else factories.active_project()
    state = project.state
    response = people.api_client(people.admin()).post(f"/api/v1/projects/{project.pk}/{event}", {"reason": "  "})
    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["reason"]
    project.refresh_from_db()
    assert project.state == state


def test_a_refused_step_names_state_and_what_is_possible() -> None:
    project = factories.active_project()
    response = people.api_client(people.director()).post(f"/api/v1/projects/{project.pk}/approve/")
    assert response.status_code == 409
    problem = response.json()
    assert problem["code"] == "illegal_transition"
    assert (problem["state"], problem["event"], problem["allowed"]) == ("active", "approve", ["close", "suspend"])
