"""The pages: what each role is shown, that a form says what is stored, that free text stays text."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from kernel.models import StateChange
from projects import selectors, services
from projects.content import content_hash
from projects.facts import MilestoneAsked
from projects.models import Membership, Project, Tier
from projects.tests import factories

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert('x')</script>"
LONG = "Retrieval-augmented speech translation between low-resource languages, " + "with terms kept by experts " * 2


def sent(**changes: str) -> dict[str, str]:
    """A form as a browser sends it: one row of compute, one milestone."""
    return {
        "name": "Sparse attention",
        "goal": "Half the cost",
        "kind": "research",
        "stage": "training",
        "area": "",
        "data_class": "internal",
        "breakthrough": "7",
        "datasets": "corpora/web\ncorpora/books\n",
        "compute-TOTAL_FORMS": "1",
        "compute-INITIAL_FORMS": "0",
        "compute-0-gpu_model": "h100",
        "compute-0-min": "0",
        "compute-0-target": "2",
        "compute-0-max": "4",
        "milestones-TOTAL_FORMS": "2",
        "milestones-INITIAL_FORMS": "0",
        "milestones-0-name": "First run",
        "milestones-0-due_on": "2030-05-01",
        "milestones-1-name": "",
        "milestones-1-due_on": "",
        "act": "save",
        **changes,
    }


@pytest.fixture
def lead() -> Person:
    factories.gpu_model("h100")
    return people.person("the-lead")


def text_of(response: Any) -> str:
    text: str = response.content.decode()
    return text


def test_register_keep_resume_and_submit(lead: Person) -> None:
    browser = people.browser(lead)
    assert browser.get("/projects/new").status_code == 200
    lacking = sent(goal="", breakthrough="")
    refused = browser.post("/projects/new/", {**lacking, "act": "submit"})
    assert refused.status_code == 422
    assert "Say what the project is to reach." in text_of(refused)
    assert "Estimate the breakthrough potential" in text_of(refused)
    assert not Project.objects.exists()
    kept = browser.post("/projects/new/", lacking)
    project = Project.objects.get()
    assert kept["Location"] == f"/projects/{project.pk}"
    assert (project.state, project.datasets) == ("draft", ["corpora/web", "corpora/books"])
    row, page = project.milestones.get(), f"/projects/{project.pk}/edit"
    again = sent(**{"milestones-INITIAL_FORMS": "1", "milestones-0-id": str(row.pk), "compute-INITIAL_FORMS": "1"})
    done = browser.post(page, {**again, "act": "submit", "seen": content_hash(project)})
    assert done["Location"] == f"/projects/{project.pk}"
    project.refresh_from_db()
    assert project.state == "submitted"
    assert [m.pk for m in project.milestones.all()] == [row.pk]


def test_a_removed_row_is_gone_and_a_faulty_one_says_so(lead: Person) -> None:
    browser = people.browser(lead)
    wrong = browser.post("/projects/new/", sent(**{"compute-0-min": "5"}))
    assert wrong.status_code == 422
    assert "At least 5, target 2, at most 4: none may be less than the one before it" in text_of(wrong)
    assert 'value="Sparse attention"' in text_of(wrong)
    assert not Project.objects.exists()
    browser.post("/projects/new/", sent())
    project = Project.objects.get()
    row = project.milestones.get()
    browser.post(
        f"/projects/{project.pk}/edit/",
        sent(
            **{
                "milestones-INITIAL_FORMS": "1",
                "milestones-0-id": str(row.pk),
                "milestones-0-DELETE": "on",
                "compute-INITIAL_FORMS": "1",
                "compute-0-DELETE": "on",
            }
        ),
    )
    assert not project.milestones.exists()
    assert not project.expected_compute.exists()


def test_a_taken_name_is_said_at_the_field(lead: Person) -> None:
    factories.draft_project(name="Sparse attention")
    page = people.browser(lead).post("/projects/new/", sent())
    assert page.status_code == 422
    assert "Choose another name" in text_of(page)


def test_an_edit_on_older_content_keeps_the_text_and_asks_again(lead: Person) -> None:
    project = factories.draft_project(lead=lead, name="Alpha")
    seen = content_hash(project)
    services.project_edit(actor=lead, project_id=project.pk, changes={"stage": "evaluation"})
    page = people.browser(lead).post(f"/projects/{project.pk}/edit/", {**sent(name="Mine"), "seen": seen})
    assert page.status_code == 422
    assert "Somebody else changed this project" in text_of(page)
    assert 'value="Mine"' in text_of(page)
    project.refresh_from_db()
    assert (project.name, project.stage) == ("Alpha", "evaluation")


def test_an_admin_reclassifies_and_changes_nothing_else(lead: Person) -> None:
    project = factories.active_project(lead=lead, name="Alpha")
    browser = people.browser(people.admin())
    page = f"/projects/{project.pk}/edit/"
    assert browser.get(page).status_code == 200
    browser.post(page, sent(name="Other", kind="product"))
    project.refresh_from_db()
    assert (project.name, project.kind, project.milestones.count()) == ("Alpha", "product", 1)


def test_the_way_to_the_decision_ends_with_it(lead: Person) -> None:
    project = factories.submitted_project(lead=lead)
    director = people.browser(people.director())
    page = f"/projects/{project.pk}/decide/"
    decision = director.get(page)["Location"]
    shown = text_of(director.get(decision))
    seen = re.findall(r'name="seen" value="([0-9a-f]+)"', shown)[0]
    assert "Find out whether it works" in shown
    sent = {"answer": "approve", "seen": seen, "version": "1", "comment": ""}
    assert director.post(f"{decision}/vote", sent)["Location"] == decision
    project.refresh_from_db()
    assert project.state == "active"
    # The second click on the same page.
    assert director.post(f"{decision}/vote", sent).status_code == 409
    assert StateChange.objects.filter(machine="project", event="approve").count() == 1
    assert director.get(page)["Location"] == f"/projects/{project.pk}"


@pytest.mark.parametrize(("event", "state"), [("suspend", "suspended"), ("close", "closed")])
def test_a_step_asks_once_and_needs_a_reason(event: str, state: str) -> None:
    project = factories.active_project(name="Alpha")
    admin = people.browser(people.admin())
    page = f"/projects/{project.pk}/{event}"
    assert "Alpha" in text_of(admin.get(page))
    assert admin.post(page, {"reason": ""}).status_code == 422
    assert admin.post(page, {"reason": "Because"}).status_code == 302
    project.refresh_from_db()
    assert project.state == state
    assert admin.get(page).status_code == 409


def test_team_pages(lead: Person) -> None:
    project = factories.active_project(lead=lead)
    other = people.person("newcomer")
    browser = people.browser(lead)
    page = f"/projects/{project.pk}/members/"
    assert browser.post(page, {"person": "nobody-here", "role": "researcher"}).status_code == 422
    assert browser.post(page, {"person": "newcomer", "role": "researcher"}).status_code == 302
    assert "newcomer" in text_of(browser.get(page))
    again = browser.post(page, {"person": "newcomer", "role": "researcher"})
    assert again.context["form"].errors["person"] == ["This person is on the project already"]
    assert 'value="newcomer"' in text_of(again)
    assert browser.post(f"{page}{other.pk}/role/", {"role": "lead"}).status_code == 302
    assert "Take Newcomer off" in text_of(browser.get(f"{page}{other.pk}/remove/"))
    assert browser.post(f"{page}{other.pk}/remove/").status_code == 302
    assert not Membership.objects.filter(project=project, person=other, left_at__isnull=True).exists()
    assert browser.post(f"{page}{lead.pk}/remove/").status_code == 409
    researcher = people.person()
    factories.enrol(project, researcher)
    assert people.browser(researcher).get(f"{page}{lead.pk}/remove/").status_code == 403
    assert people.browser(researcher).post(page, {"person": "newcomer", "role": "lead"}).status_code == 403


PAGES = ["", "edit", "tier", "members", "history", "suspend"]


@pytest.mark.parametrize("tail", PAGES)
def test_who_gets_which_page(tail: str, lead: Person) -> None:
    project = factories.active_project(lead=lead)
    researcher = people.person()
    factories.enrol(project, researcher)
    address = f"/projects/{project.pk}/{tail}"
    everybody = tail in ("", "members", "history")
    codes = {
        "lead": 200 if everybody or tail == "edit" else 403,
        "researcher": 200 if everybody else 403,
        "auditor": 200 if everybody else 403,
        "stranger": 404,
    }
    given = {"lead": lead, "researcher": researcher, "auditor": people.auditor(), "stranger": people.person()}
    for role, someone in given.items():
        for slash in ("", "/"):
            if tail or slash:
                response = people.browser(someone).get(address.rstrip("/") + slash)
                assert response.status_code == codes[role], role
    refused = Client().get(address)
    assert refused.status_code == 302
    assert "login" in refused["Location"]


def every_page(project: Project) -> list[str]:
    root = f"/projects/{project.pk}/"
    return ["/projects/", root, f"{root}members/", f"{root}history/"]


def test_script_text_stays_text_on_every_page() -> None:
    lead = people.person(display_name=SCRIPT)
    project = factories.draft_project(
        lead=lead,
        name=SCRIPT,
        goal=SCRIPT,
        datasets=[SCRIPT],
        milestones=[MilestoneAsked(SCRIPT, datetime(2030, 1, 1, tzinfo=UTC).date())],
    )
    services.project_submit(actor=lead, project_id=project.pk)
    services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason=SCRIPT)
    own = [f"/projects/{project.pk}/edit/", f"/projects/{project.pk}/close/"]
    for page in [*every_page(project), *own]:
        text = text_of(people.browser(lead).get(page))
        assert SCRIPT not in text, page
        assert "&lt;script&gt;" in text, page
    services.project_submit(actor=lead, project_id=project.pk, answer=SCRIPT)
    text = text_of(people.browser(people.director()).get(f"/projects/{project.pk}/decide/", follow=True))
    assert SCRIPT not in text
    assert text.count("&lt;script&gt;") > 3


def test_long_and_chinese_names_are_shown_whole() -> None:
    lead = people.person(display_name="陈伟")
    for name in (LONG[:120].strip(), "蛋白质结构生成模型"):
        project = factories.active_project(lead=lead, name=name)
        for page in every_page(project):
            assert name in text_of(people.browser(lead).get(page)), page


def test_days_end_with_the_organisation_s_day(settings: Any, freeze: Callable[[datetime], None]) -> None:
    settings.ORGANISATION_TIME_ZONE = "Asia/Shanghai"
    freeze(datetime(2026, 5, 1, 15, 59, tzinfo=UTC))
    lead = people.person()
    due = datetime(2026, 5, 1, tzinfo=UTC).date()
    project = factories.active_project(lead=lead, milestones=[MilestoneAsked("Due", due)])
    assert selectors.milestone_facts(project)[0].state == "planned"
    assert selectors.milestone_facts(project)[0].standing == "due"
    freeze(datetime(2026, 5, 1, 16, 1, tzinfo=UTC))
    assert selectors.milestone_facts(project)[0].state == "slipped"
    assert selectors.milestone_facts(project)[0].standing == "overdue"
    met = [{"name": "Due", "due_on": "2026-05-01", "met_on": "2026-05-02"}]
    client = people.api_client(lead)
    assert client.patch(f"/api/v1/projects/{project.pk}/", {"milestones": met}).status_code == 200
    assert selectors.milestone_facts(project)[0].state == "met"
    assert selectors.milestone_facts(project)[0].standing == "met"


@pytest.mark.parametrize("query", ["sort=created_by__password", "state=lost", "tier=x"])
def test_the_list_refuses_what_is_not_allowed(query: str) -> None:
    assert people.browser(people.auditor()).get(f"/projects/?{query}").status_code == 422


def test_the_list_page_narrows_and_sorts(lead: Person) -> None:
    factories.active_project(lead=lead, name="Alpha", tier=Tier.LOW)
    factories.submitted_project(lead=lead, name="Beta")
    browser = people.browser(lead)
    page = text_of(browser.get("/projects/?state=submitted"))
    assert "Beta" in page
    assert "Alpha" not in page
    page = text_of(browser.get("/projects?sort=-name"))
    assert page.index("Beta") < page.index("Alpha")
    assert "No project fits" in text_of(browser.get("/projects/?q=nothing"))
    assert "No project yet" in text_of(people.browser(people.person()).get("/projects/"))


def test_research_areas_page() -> None:
    admin = people.browser(people.admin())
    assert admin.post("/projects/areas/new", {"name": "vision", "title": "Vision"}).status_code == 302
    assert admin.post("/projects/areas/new", {"name": "vision", "title": "Vision"}).status_code == 422
    assert "Vision" in text_of(people.browser(people.person()).get("/projects/areas"))
    assert people.browser(people.person()).post("/projects/areas/new", {"name": "x", "title": "X"}).status_code == 403


@pytest.mark.parametrize("address", ["/projects/", "/api/v1/projects/"])
@pytest.mark.parametrize("role", ["auditor", "lead"])
def test_statements_of_the_list_do_not_grow_with_rows(address: str, role: str, lead: Person) -> None:
    someone = people.auditor() if role == "auditor" else lead
    browser = people.browser(someone)

    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert browser.get(address).status_code == 200
        return len(captured)

    factories.active_project(lead=lead, tier=Tier.HIGH)
    statements()
    few = statements()
    for _row in range(6):
        factories.active_project(lead=lead, researchers=(people.person(),), tier=Tier.LOW)
    assert statements() == few
    assert few <= 12
