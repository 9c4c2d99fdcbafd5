"""The part beside the form, through HTTP: figures of a real ledger, what is named to whom, the path as it is made."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import day_bounds, local_day
from portal.tests.request.test_form import day, lead, model, project, text, typed
from projects.models import Project
from projects.tests.factories import active_project, enrol
from quotas.models import QuotaRequest
from quotas.tests import asking
from quotas.tests import factories as make

__all__ = ["lead", "model", "project"]
pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}
MOST_STATEMENTS = 30


def said(lead: Client, project: Project, model: GpuModel, **more: str) -> str:
    answer = lead.post(f"/projects/{project.pk}/request/consequence", typed(model, **more), headers=PART)
    assert answer.status_code == 200
    return text(answer)


def reserve(model: GpuModel, gpus: int, name: str) -> Project:
    """Another project's promise from the third day to the fifth."""
    other = active_project(name=name)
    first = local_day(clock.now())
    start, end = day_bounds(first + timedelta(days=2)).start, day_bounds(first + timedelta(days=4)).end
    make.grant(other, model, gpus, effective_from=start, effective_to=end)
    return other


def test_days_offers_and_amounts(lead: Client, project: Project, model: GpuModel) -> None:
    """60 usable, 8 promised, 20 more for three days: 52 free, 32 then."""
    make.grant(project, model, 8, limit=16)
    reserve(model, 20, "Secret winds")
    page = said(lead, project, model)
    assert '<b class="hero">27</b> of 30 days have 40' in page
    assert "only 32 are free: other promises." in page
    assert "Secret winds" not in page
    assert 'data-fill-guaranteed_more="32">Ask for 32' in page
    assert f'data-fill-from_on="{day(5)}">Leave out' not in page
    assert f'data-fill-from_on="{day(5)}"' in page
    assert 'id="becomes-guaranteed" hx-swap-oob="true"' in page
    assert "8 becomes 48." in page
    assert "16 becomes 48." in page
    assert f'value="{model.pk}:8:16"' in page


def test_what_takes_them_is_named_to_who_may_know(project: Project, model: GpuModel) -> None:
    reserve(model, 30, "Open winds")
    director = people.person("boss", Role.DIRECTOR)
    mine = asking.lead_of(project)
    page = said(people.browser(mine), project, model)
    assert "Open winds" not in page
    enrol(Project.objects.get(name="Open winds"), mine)
    assert "Open winds" in said(people.browser(mine), project, model)
    assert people.browser(director).post(f"/projects/{project.pk}/request/consequence", typed(model)).status_code == 403


@pytest.mark.parametrize("gpus", ["1", "9", "33"])
def test_the_path_shown_is_the_path_made(lead: Client, project: Project, model: GpuModel, gpus: str) -> None:
    terms = {"guaranteed_more": gpus, "to_on": day(6)}
    page = said(lead, project, model, **terms)
    lead.post(f"/projects/{project.pk}/request", typed(model, **terms))
    row = QuotaRequest.objects.get()
    approval = asking.approval(row)
    steps = list(approval.steps.order_by("number"))
    if steps:
        labels = "".join(f"<li>{Role(step.roles[0]).label}</li>" for step in steps)
        assert f"<li>You</li>{labels}</ol>" in page
    else:
        assert f"Granted at once by the policy ({approval.rule})" in page


def test_like_cases_are_counted_without_names(lead: Client, project: Project, model: GpuModel) -> None:
    asking.approve(asking.submitted(active_project(name="Secret winds"), model, 9))
    asking.vote(asking.submitted(active_project(name="Secret waves"), model, 10), "reject")
    page = said(lead, project, model, guaranteed_more="9")
    assert "Of the last 2 like this 1 were granted, 0 in part, 1 declined." in page
    assert "Secret" not in page


def test_what_is_missing_is_said(lead: Client, project: Project, model: GpuModel) -> None:
    assert "Choose a GPU model" in said(lead, project, model, gpu_model="")
    assert "Say how many GPUs more" in said(lead, project, model, guaranteed_more="")
    assert "do not make a time" in said(lead, project, model, to_on=day(-3))


def test_giving_back_says_so(lead: Client, project: Project, model: GpuModel) -> None:
    make.grant(project, model, 16, limit=16)
    page = said(lead, project, model, guaranteed_more="-8", length="review")
    assert "Gives 8" in page
    assert "Granted at once by the policy" in page


def test_without_a_script_it_is_a_page(lead: Client, project: Project, model: GpuModel) -> None:
    answer = lead.post(f"/projects/{project.pk}/request/consequence", typed(model))
    assert text(answer).startswith("<!doctype html>")
    assert "hx-swap-oob" not in text(answer)
    assert "Nothing was saved or sent." in text(answer)


def test_its_cost_does_not_grow_with_rows(lead: Client, project: Project, model: GpuModel) -> None:
    reserve(model, 24, "one")
    asking.approve(asking.submitted(active_project(name="asked"), model, 1))
    said(lead, project, model)
    with CaptureQueriesContext(connection) as few:
        said(lead, project, model)
    for index in range(3):
        reserve(model, 4, f"more {index}")
        asking.approve(asking.submitted(active_project(name=f"asks {index}"), model, 1))
    with CaptureQueriesContext(connection) as many:
        said(lead, project, model)
    assert len(many) == len(few)
    assert len(many) <= MOST_STATEMENTS
