"""Home and search: who sees what first."""

from datetime import timedelta

import pytest

from accounts.models import Role
from accounts.tests import factories as people
from inventory.services import node_mark_silent
from kernel import clock
from portal.pages.actions import actions_for
from portal.pages.finding import in_order
from portal.pages.lanes import lanes_of
from portal.pages.news import News, _together
from portal.pages.waiting import SHOWN, waiting_for
from portal.tests.pages import world
from projects.models import Project, ProjectRole
from projects.services import member_add, member_remove, project_decide
from projects.tests import factories as registry
from scheduling.tests import factories

pytestmark = pytest.mark.django_db


def test_what_waits_is_grouped_oldest_first_and_folds() -> None:
    admin = people.admin()
    for index in range(SHOWN + 2):
        with clock.frozen(clock.now() + timedelta(hours=index)):
            registry.submitted_project(name=f"Number {index}")
    [decide] = [group for group in waiting_for(admin) if group.rows[0].icon == "approval"]
    assert [row.title for row in decide.open][:2] == ["Number 0", "Number 1"]
    assert len(decide.open) == SHOWN
    assert len(decide.folded) == 2
    assert "2 more" in people.browser(admin).get("/").content.decode()


def test_who_left_a_project_is_not_asked_to_decide_on_it() -> None:
    """As the service judges it: nobody leaves to decide and comes back."""
    admin, lead = people.admin(), people.person("its-lead")
    project = registry.submitted_project(lead=lead, name="Left behind")
    member_add(actor=lead, project_id=project.pk, person=admin.username, role=ProjectRole.RESEARCHER)
    member_remove(actor=lead, project_id=project.pk, person_id=admin.pk)
    assert "approval" not in {row.icon for group in waiting_for(admin) for row in group.rows}
    assert "approval" in {row.icon for group in waiting_for(people.admin("another")) for row in group.rows}


def test_an_admin_is_led_to_projects_without_a_quota_and_to_silent_nodes() -> None:
    where = world.make()
    bare = registry.active_project(name="Approved and empty")
    factories.fall_silent(where.node)
    node_mark_silent(clock.database_now())
    page = people.browser(people.admin()).get("/").content.decode()
    assert "Grant a quota to “Approved and empty”" in page
    assert f"/quotas/grant?project={bare.pk}" in page
    assert "alpha is down" in page
    assert "Protein dynamics”" not in page


def test_an_auditor_sees_the_whole_and_decides_nothing() -> None:
    world.make()
    browser = people.browser(people.auditor())
    page = browser.get("/").content.decode() + browser.get("/organisation").content.decode()
    assert "Promised against used" in page
    assert "Audit log" in page
    assert "Decide on" not in page
    assert "Next review" not in page
    assert "Next review" in people.browser(people.person("d", Role.DIRECTOR)).get("/organisation").content.decode()


def test_projects_that_left_their_lane() -> None:
    where = world.make()
    quiet = factories.project(people.person("quiet-lead"), name="Quiet", gpus=2)
    with clock.frozen(clock.now() + timedelta(days=10)):
        found = {row.project.name: row.words for row in lanes_of(Project.objects.filter(state="active"))}
    assert found["Quiet"].startswith("Holds 0.0 of 1 promised") or found["Quiet"].startswith("Holds 0 of 1 promised")
    assert "days late" in found["Protein dynamics"]
    page = people.browser(people.person("boss", Role.DIRECTOR)).get("/lanes", headers={"HX-Request": "true"})
    assert "<html" not in page.content.decode()
    assert where.project.pk != quiet.pk


def test_many_nodes_that_came_back_are_one_line() -> None:
    at = clock.now()
    up = [News(at, f"n{index}", "/", "up", "again", many="and %(count)s more nodes") for index in range(4)]
    other = News(at, "Fusion", "/p", "active")
    assert [(item.name, item.more) for item in _together([*up, other])] == [("n0", "and 3 more nodes"), ("Fusion", "")]


@pytest.mark.parametrize(
    ("words", "finds"),
    [
        ("高超材", True),
        ("高温", True),
        ("料导", False),
        ("gwc", True),
        ("zz", False),
        ("高温 gaowen", True),
        ("高温 missing", False),
    ],
)
def test_letters_in_order_find_a_name(words: str, finds: bool) -> None:
    lead = people.person("finding-lead")
    registry.draft_project(lead=lead, name="高温超导材料 GaoWen Chao", goal="")
    page = people.browser(lead).get("/search", {"q": words, "as": "list"}).content.decode()
    assert ("高温超导材料" in page.replace(f"“{words}”", "")) is finds


def test_a_pattern_is_only_letters() -> None:
    assert in_order("a.b") == r"a.*\..*b"
    assert in_order("a") == ""
    assert in_order("x" * 40) == ""


def test_actions_are_those_of_the_role() -> None:
    assert [str(action.label) for action, _url in actions_for({Role.ADMIN}, "grant")] == ["Grant a quota"]
    assert actions_for(set(), "grant") == []
    assert [str(action.label) for action, _url in actions_for(set(), "launch")] == ["New job"]


def test_searching_survives_odd_words() -> None:
    browser = people.browser(people.admin())
    for words in ("%", "(", "[a", "\\", "'", "a" * 300, "٣"):
        assert browser.get("/search", {"q": words}).status_code == 200
        assert browser.get("/search", {"q": words, "as": "list"}).status_code == 200


def test_a_returned_registration_asks_for_its_answer() -> None:
    lead = people.person("its-lead")
    project = registry.submitted_project(lead=lead, name="Asked")
    project_decide(answer="return", actor=people.admin(), project_id=project.pk, reason="Which licence?")
    titles = [row.title for group in waiting_for(lead) for row in group.rows]
    assert titles == ["Answer the question on “Asked”"]
