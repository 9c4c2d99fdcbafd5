"""The story of a project is whole: each step, change, tier and move of the team, in order, with who and why."""

from typing import Any

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from projects import selectors, services
from projects.models import Project
from projects.tests import factories

pytestmark = pytest.mark.django_db


STEPS = [
    ("created", "created", "Lena"),
    ("change", "member", "Lena"),
    ("change", "name", "Lena"),
    ("change", "breakthrough", "Lena"),
    ("state", "submit", "Lena"),
    ("state", "return", "The-Admin"),
    ("change", "datasets", "Lena"),
    ("state", "submit", "Lena"),
    ("state", "approve", "The-Admin"),
    ("change", "member", "Lena"),
    ("tier", "tier", "The-Admin"),
    ("change", "stage", "Lena"),
    ("tier", "tier", "The-Admin"),
    ("state", "suspend", "The-Admin"),
    ("state", "resume", "The-Admin"),
    ("change", "member", "Lena"),
    ("state", "close", "Lena"),
]


def whole_life(lead: Person) -> Project:
    """A project from its draft to its end."""
    researcher, admin = people.person(display_name="Rui"), people.admin("the-admin")
    project = factories.draft_project(lead=lead, name="Alpha")
    given: Any = {"project_id": project.pk}
    services.project_edit(actor=lead, changes={"name": "Beta", "breakthrough": 9}, **given)
    services.project_submit(actor=lead, **given)
    services.project_decide(answer="return", actor=admin, reason="Which data?", **given)
    services.project_edit(actor=lead, changes={"datasets": ["corpora/web"]}, **given)
    services.project_submit(actor=lead, answer="The web of 2026", **given)
    services.project_decide(answer="approve", actor=admin, reason="Welcome", **given)
    services.member_add(actor=lead, person=str(researcher.username), role="researcher", **given)
    services.tier_set(actor=admin, tier="low", reason="New", **given)
    services.project_edit(actor=lead, changes={"stage": "training"}, **given)
    services.tier_set(actor=admin, tier="high", reason="Round 4", **given)
    services.project_suspend(actor=admin, reason="Licence", **given)
    services.project_resume(actor=admin, **given)
    services.member_remove(actor=lead, person_id=researcher.pk, **given)
    services.project_close(actor=lead, reason="Done", **given)
    return Project.objects.get(pk=project.pk)


def test_the_whole_life_of_a_project() -> None:
    lead = people.person(display_name="Lena")
    project = whole_life(lead)
    items = selectors.history(project)
    assert [(item.kind, item.what, item.who) for item in items] == STEPS
    assert [item.at for item in items] == sorted(item.at for item in items)
    assert [item.reason for item in items if item.reason] == [
        "Which data?",
        "The web of 2026",
        "Welcome",
        "New",
        "Round 4",
        "Licence",
        "Done",
    ]
    by_field = {item.what: (item.before, item.after) for item in items if item.kind in ("change", "tier")}
    assert by_field["stage"] == ("exploration", "training")
    assert by_field["tier"] == ("low", "high")
    served = people.api_client(lead).get(f"/api/v1/projects/{project.pk}/history/").json()
    assert served["count"] == len(items)
    assert [row["what"] for row in served["results"]] == [item.what for item in items]


def test_saving_what_is_there_already_is_no_change() -> None:
    lead = people.person()
    project = factories.draft_project(lead=lead, name="Alpha")
    before = len(selectors.history(project))
    facts = factories.full_facts(name="Alpha", goal=project.goal)
    services.project_edit(actor=lead, project_id=project.pk, changes=facts)
    assert len(selectors.history(project)) == before


def test_a_milestone_that_was_moved_has_slipped_and_keeps_its_first_day() -> None:
    lead = people.person()
    project = factories.active_project(lead=lead)
    client, url = people.api_client(lead), f"/api/v1/projects/{project.pk}/"
    for day in ("2030-03-01", "2030-06-01"):
        client.patch(url, {"milestones": [{"name": "First result", "due_on": day}]})
    fact = selectors.milestone_facts(project)[0]
    assert (str(fact.first_due_on), str(fact.due_on), fact.state) == ("2030-01-31", "2030-06-01", "slipped")
    assert (fact.standing, fact.is_overdue) == ("slipped", False)
