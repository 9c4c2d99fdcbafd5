"""Answering for a milestone: met, open again, moved; by whom, and with what trace."""

from datetime import timedelta

import pytest

from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Forbidden, Invalid, NotFound
from projects.errors import NotEditable
from projects.models import Milestone, Project
from projects.selectors import milestone_facts
from projects.services import milestone_meet, milestone_move, milestone_reopen
from projects.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.active_project(lead=people.person("milestone-lead"))


def first(project: Project) -> Milestone:
    return project.milestones.earliest("pk")


def test_met_today_is_one_line_of_the_history_and_can_be_taken_back(project: Project) -> None:
    lead, row = project.created_by, first(project)
    milestone_meet(actor=lead, project_id=project.pk, milestone_id=row.pk)
    milestone_meet(actor=lead, project_id=project.pk, milestone_id=row.pk)
    assert first(project).met_on == clock.now().date()
    assert project.changes.filter(field="milestone").count() == 1
    milestone_reopen(actor=lead, project_id=project.pk, milestone_id=row.pk)
    assert first(project).met_on is None
    assert project.changes.filter(field="milestone").count() == 2


def test_moved_later_counts_as_slipped(project: Project) -> None:
    row = first(project)
    later = row.due_on + timedelta(days=10)
    milestone_move(actor=project.created_by, project_id=project.pk, milestone_id=row.pk, due_on=later)
    [fact] = [fact for fact in milestone_facts(project) if fact.id == row.pk]
    assert (fact.due_on, fact.first_due_on, fact.standing) == (later, row.due_on, "slipped")


def test_not_tomorrow_not_another_project_not_by_others(project: Project) -> None:
    lead, row = project.created_by, first(project)
    tomorrow = clock.now().date() + timedelta(days=1)
    with pytest.raises(Invalid):
        milestone_meet(actor=lead, project_id=project.pk, milestone_id=row.pk, on=tomorrow)
    foreign = first(make.active_project(name="Another one"))
    with pytest.raises(NotFound):
        milestone_meet(actor=lead, project_id=project.pk, milestone_id=foreign.pk)
    with pytest.raises(Forbidden):
        milestone_meet(actor=people.admin(), project_id=project.pk, milestone_id=row.pk)
    with pytest.raises(NotFound):
        milestone_meet(actor=people.person(), project_id=project.pk, milestone_id=row.pk)


def test_what_is_submitted_stays_as_it_was(project: Project) -> None:
    lead = people.person("waiting-lead")
    waiting = make.submitted_project(lead=lead)
    with pytest.raises(NotEditable):
        milestone_meet(actor=lead, project_id=waiting.pk, milestone_id=first(waiting).pk)


def test_one_click_answers_and_leads_back(project: Project) -> None:
    browser, row = people.browser(project.created_by), first(project)
    address = f"/projects/{project.pk}/milestones/{row.pk}"
    answer = browser.post(f"{address}/met", {"back": "home"})
    assert answer["Location"] == "/"
    page = browser.get("/").content.decode()
    assert f'action="{address}/reopen"' in page
    assert browser.post(f"{address}/reopen", {"back": "milestones"})["Location"] == f"/projects/{project.pk}/milestones"
    assert browser.post(f"{address}/move", {"day": "soon"}).status_code == 422
    assert browser.post(f"{address}/move", {"day": "2031-05-01"}).status_code == 302
    assert first(project).due_on.isoformat() == "2031-05-01"
    future = (clock.now().date() + timedelta(days=3)).isoformat()
    refused = browser.post(f"{address}/met", {"day": future})
    assert refused.status_code == 422
    assert "has not come yet" in refused.content.decode()
