"""Changing many projects at once: judged by the rules of one, seen before, all or nothing, and taken back."""

import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Conflict, Invalid, LockTimeout, NotFound, PortalError
from kernel.models import AuditEntry
from kernel.unit import unit_of_work
from portal.models import BulkChange
from portal.pages.bulk.services import bulk_change, bulk_undo, stated
from portal.pages.undo import UNDO_WITHIN
from portal.tests.pages.crowd import crowd
from projects.content import content_hash
from projects.errors import ManyRefused
from projects.models import Project, ProjectChange, ResearchArea
from projects.services import area_create, project_close, project_edit, project_suspend
from projects.tests import factories

pytestmark = pytest.mark.django_db
SCRIPT = '"><script>alert(1)</script>'


def seen(*projects: Project) -> dict[int, str]:
    return {project.pk: content_hash(project) for project in projects}


def address(field: str, projects: Sequence[Project], **more: str) -> str:
    parts = [f"ids={project.pk}" for project in projects] + [f"{key}={value}" for key, value in more.items()]
    return f"/projects/bulk/{field}?{'&'.join(parts)}"


def sent(text: str) -> list[str]:
    """What the form of a preview would send of each project."""
    return re.findall(r'name="seen" value="([^"]+)"', text)


def page(browser: Client, where: str) -> str:
    answer: Any = browser.get(where)
    assert answer.status_code == 200, answer.content[:300]
    return str(answer.content.decode())


def stages(*projects: Project) -> list[str]:
    found = dict(Project.objects.values_list("pk", "stage"))
    return [found[project.pk] for project in projects]


@pytest.fixture
def lead() -> Person:
    return people.person("bulk-lead")


@pytest.fixture
def vision() -> ResearchArea:
    return area_create(actor=people.admin(), name="vision", title="Vision")


# --- the preview


def test_the_preview_says_what_changes_and_first_what_does_not(lead: Person) -> None:
    mine = factories.active_project(lead=lead, name="Mine", stage="training")
    there = factories.active_project(lead=lead, name="There already", stage="evaluation")
    submitted = factories.submitted_project(lead=lead, name="Submitted one", stage="training")
    others = factories.active_project(name="Of others", stage="training")
    closed = factories.closed_project(lead=lead, name="Closed one", stage="training")
    named = [mine, there, submitted, others, closed]
    text = page(people.browser(lead), address("stage", named, value="evaluation"))
    left_out, changing = text.split('id="left-out"')[1].split('id="changing"')
    for name, why in (
        ("There already", "It is that already."),
        ("Submitted one", "Nothing can be changed while the project is submitted."),
        ("Closed one", "Nothing can be changed while the project is closed."),
    ):
        assert name in left_out
        assert why in left_out
    assert "Of others" not in text
    assert "1 of the selected rows is not there any more." in text
    assert [line.split(":")[0] for line in sent(changing)] == [str(mine.pk)]
    assert "1 × Training → Evaluation" in text
    assert stages(mine) == ["training"]


def test_who_has_no_right_reads_why(vision: ResearchArea) -> None:
    member, auditor = people.person("only-member"), people.auditor()
    project = factories.active_project(name="Theirs", researchers=(member,))
    for someone in (member, auditor):
        text = page(people.browser(someone), address("area", [project], value="vision"))
        assert "This needs the role:" in text
        assert sent(text) == []


def test_a_preview_needs_a_choice_and_rows(lead: Person) -> None:
    browser, project = people.browser(lead), factories.active_project(lead=lead)
    assert "Nothing is changed yet" in page(browser, address("stage", [project]))
    assert "Nothing is changed yet" in page(browser, address("stage", [project], value="nowhere"))
    assert "No project is selected" in page(browser, "/projects/bulk/stage?value=training")
    assert browser.get("/projects/bulk/tier").status_code == 404
    assert browser.get(f"/projects/bulk/stage?{'&'.join(f'ids={n}' for n in range(501))}").status_code == 422


def test_markup_in_a_name_stays_text(lead: Person) -> None:
    project = factories.active_project(lead=lead, name=SCRIPT)
    assert SCRIPT not in page(people.browser(lead), address("stage", [project], value="training"))


# --- doing it


def test_a_lead_changes_the_stage_of_projects_and_takes_it_back(lead: Person) -> None:
    first = factories.active_project(lead=lead, stage="training")
    second = factories.draft_project(lead=lead, stage="feasibility")
    browser, where = people.browser(lead), address("stage", [first, second], value="evaluation", sort="name")
    answer: Any = browser.post(where, {"value": "evaluation", "seen": sent(page(browser, where)), "reason": "Gate"})
    assert answer["Location"] == "/projects?sort=name"
    assert stages(first, second) == ["evaluation", "evaluation"]
    change = BulkChange.objects.get()
    text = browser.get("/projects").content.decode()
    assert f'action="/projects/bulk/{change.pk}/undo"' in text
    line = ProjectChange.objects.get(project=first, field="stage", after="evaluation")
    assert (line.before, line.by) == ("training", lead)
    entry = AuditEntry.objects.get(action="project.edited", subject_id=str(first.pk))
    assert (entry.before, entry.after) == ({"stage": "training"}, {"stage": "evaluation", "reason": "Gate"})
    assert entry.actor_id == str(lead.pk)
    assert browser.post(f"/projects/bulk/{change.pk}/undo").status_code == 302
    assert stages(first, second) == ["training", "feasibility"]
    assert browser.post(f"/projects/bulk/{change.pk}/undo").status_code == 409


def test_an_admin_changes_the_area_of_approved_projects_with_a_reason(vision: ResearchArea) -> None:
    admin, projects = people.admin(), [factories.active_project() for _number in range(3)]
    with pytest.raises(Invalid) as refusal:
        bulk_change(actor=admin, field="area", value="vision", seen=seen(*projects))
    assert list(refusal.value.errors) == ["reason"]
    done = bulk_change(actor=admin, field="area", value="vision", seen=seen(*projects), reason="New groups")
    assert set(Project.objects.values_list("area__name", flat=True)) == {"vision"}
    bulk_undo(actor=admin, change_id=done.pk)
    assert set(Project.objects.values_list("area", flat=True)) == {None}
    for value in ("nowhere", "x" * 300):
        with pytest.raises(Invalid):
            bulk_change(actor=admin, field="area", value=value, seen=seen(*projects), reason="x")


def test_nobody_reclassifies_an_own_project_among_others(vision: ResearchArea) -> None:
    admin = people.admin("own-admin")
    own, other = factories.active_project(lead=admin, name="Own"), factories.active_project(name="Other")
    with pytest.raises(ManyRefused) as refusal:
        bulk_change(actor=admin, field="area", value="vision", seen=seen(own, other), reason="x")
    assert [row["name"] for row in refusal.value.data["projects"]] == ["Own"]
    assert not Project.objects.filter(area=vision).exists()


def test_the_rules_are_those_of_a_single_edit(lead: Person, vision: ResearchArea) -> None:
    """For each kind of person and state, many and one say the same."""
    member = people.person("a-member")
    cast = {"lead": lead, "member": member, "admin": people.admin("x-admin"), "auditor": people.auditor("x-auditor")}
    made = [
        factories.draft_project(lead=lead),
        factories.submitted_project(lead=lead),
        factories.active_project(lead=lead, researchers=(member,)),
        factories.suspended_project(lead=lead),
        factories.closed_project(lead=lead),
    ]
    for someone in cast.values():
        for project in made:
            for field, value in (("stage", "production"), ("area", "vision")):
                one = partial(project_edit, actor=someone, project_id=project.pk, changes=stated(field, value))
                many = partial(bulk_change, actor=someone, field=field, value=value, seen=seen(project), reason="r")
                assert outcome(one) == outcome(many), (someone, project.state, field)


def outcome(act: Callable[[], object]) -> str:
    """Done, not there, or the sentence of the refusal; what was done is undone."""
    try:
        with transaction.atomic():
            act()
            transaction.set_rollback(True)
    except ManyRefused as refusal:
        return str(refusal.data["projects"][0]["detail"])
    except NotFound:
        return "not found"
    except PortalError as refusal:
        return refusal.message
    return "done"


def test_what_changed_meanwhile_is_named_and_nothing_happens(lead: Person) -> None:
    first, second, third = (factories.active_project(lead=lead, name=name) for name in ("One", "Two", "Three"))
    browser, where = people.browser(lead), address("stage", [first, second, third], value="training")
    form = {"value": "training", "seen": sent(page(browser, where))}
    project_edit(actor=lead, project_id=second.pk, changes={"goal": "Another"})
    project_close(actor=lead, project_id=third.pk, reason="Over")
    answer: Any = browser.post(where, form)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "<b>Two</b>: The project has changed since you looked at it (Goal)" in text
    assert "<b>Three</b>: Nothing can be changed while the project is closed." in text
    assert "<b>One</b>" not in text
    assert stages(first, second) == ["exploration", "exploration"]
    assert len(sent(text)) == 2
    assert browser.post(where, {"value": "training", "seen": sent(text)}).status_code == 302
    assert stages(first, second) == ["training", "training"]


def test_a_form_that_was_tampered_with_changes_nothing(lead: Person) -> None:
    mine, others = factories.active_project(lead=lead), factories.active_project()
    browser, where = people.browser(lead), address("stage", [mine], value="training")
    for lines, status in ((["x:y"], 422), ([f"{mine.pk}:"], 422), ([], 422), ([f"{others.pk}:{'0' * 152}"], 404)):
        assert browser.post(where, {"value": "training", "seen": lines}).status_code == status
    assert browser.post(where, {"value": "nowhere", "seen": sent(page(browser, where))}).status_code == 422
    assert stages(mine, others) == ["exploration", "exploration"]


# --- taking it back


def test_undo_is_refused_where_somebody_touched_a_project_since(lead: Person) -> None:
    first, second = factories.active_project(lead=lead, name="One"), factories.active_project(lead=lead, name="Two")
    done = bulk_change(actor=lead, field="stage", value="training", seen=seen(first, second))
    project_edit(actor=lead, project_id=second.pk, changes={"breakthrough": 9})
    answer: Any = people.browser(lead).post(f"/projects/bulk/{done.pk}/undo")
    assert answer.status_code == 409
    assert "<b>Two</b>" in answer.content.decode()
    assert "<b>One</b>" not in answer.content.decode()
    assert stages(first, second) == ["training", "training"]


def test_undo_is_the_actors_within_an_hour(lead: Person, freeze: Any) -> None:
    project = factories.active_project(lead=lead)
    done = bulk_change(actor=lead, field="stage", value="training", seen=seen(project))
    with pytest.raises(NotFound):
        bulk_undo(actor=people.admin(), change_id=done.pk)
    freeze(clock.now() + UNDO_WITHIN * 1.01)
    with pytest.raises(Conflict, match="hour"):
        bulk_undo(actor=lead, change_id=done.pk)


# --- statements, and two at once


def test_five_hundred_cost_as_many_statements_as_five() -> None:
    crowd(60)
    admin = people.admin("many-admin")
    browser = people.browser(admin)

    def cost(projects: Sequence[Project]) -> tuple[int, int]:
        where = address("area", projects, value="vision")
        browser.get(where)
        with CaptureQueriesContext(connection) as looking:
            lines = sent(page(browser, where))
        with CaptureQueriesContext(connection) as doing:
            answer = browser.post(where, {"value": "vision", "seen": lines, "reason": "x"})
        assert answer.status_code == 302
        Project.objects.update(area=None)
        return len(looking), len(doing)

    area_create(actor=admin, name="vision", title="Vision")
    Project.objects.update(area=None)
    active = list(Project.objects.filter(state="active"))
    few, many = cost(active[:3]), cost(active)
    assert len(active) > 40
    assert few == many
    assert max(few) <= 25


@pytest.mark.django_db(transaction=True)
def test_an_edit_and_a_bulk_change_at_once_never_mix() -> None:
    """A real second connection holds one of the projects: the change waits, then sees what was written."""
    lead = people.person("two-lead")
    first, second = factories.active_project(lead=lead, name="One"), factories.active_project(lead=lead, name="Two")
    looked_at = seen(first, second)
    held, go = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def edits() -> None:
        try:
            with unit_of_work():
                project_edit(actor=lead, project_id=second.pk, changes={"goal": "Meanwhile"})
                held.set()
                go.wait(20)
        finally:
            connections.close_all()

    def changes() -> None:
        try:
            bulk_change(actor=lead, field="stage", value="training", seen=looked_at)
            outcomes.append("done")
        except (ManyRefused, LockTimeout) as refusal:
            outcomes.append(type(refusal).__name__)
        finally:
            connections.close_all()

    one = threading.Thread(target=edits)
    one.start()
    assert held.wait(20)
    two = threading.Thread(target=changes)
    two.start()
    go.set()
    one.join(30)
    two.join(30)
    assert outcomes == ["ManyRefused"]
    assert stages(first, second) == ["exploration", "exploration"]
    assert Project.objects.get(pk=second.pk).goal == "Meanwhile"


def test_a_project_suspended_meanwhile_may_still_change_its_stage(lead: Person) -> None:
    """Suspending stops its jobs, not the work on what is stated: as with a single edit."""
    project = factories.active_project(lead=lead)
    looked_at = seen(project)
    project_suspend(actor=factories.admin(), project_id=project.pk, reason="x")
    bulk_change(actor=lead, field="stage", value="training", seen=looked_at)
    assert stages(project) == ["training"]


# --- where it is offered


@pytest.mark.parametrize(
    ("who", "stage", "area"), [("lead", True, True), ("admin", False, True), ("director", False, False)]
)
def test_the_bar_offers_no_change_that_is_refused_for_every_row(who: str, *, stage: bool, area: bool) -> None:
    project = factories.active_project(name="Here")
    person = {"lead": project.memberships.get().person, "admin": people.admin(), "director": people.director()}[who]
    text = page(people.browser(person), "/projects")
    assert ("/projects/bulk/stage" in text, "/projects/bulk/area" in text) == (stage, area)
