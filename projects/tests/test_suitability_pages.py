"""The page of a project's suitability, its calls, and two admins at the same moment."""

from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel.formats import THIN_SPACE
from kernel.models import StateChange
from projects import services
from projects.models import Measurement, Project
from projects.services import Stated
from projects.tests import factories
from projects.tests.test_decisions import at_once

FORM = {"gpu_model": "h100", "throughput": "1200.5", "unit": "tokens/s", "evidence": "https://example.org/run/7"}


def cost(browser: Client, address: str) -> int:
    browser.get(address)
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(address).status_code == 200
    return len(captured)


def measured(project: Project, model: str = "h100", throughput: str = "5") -> Measurement:
    stated = Stated(factories.gpu_model(model).name, Decimal(throughput), "tokens/s", "A run")
    return services.measurement_state(actor=project.created_by, project_id=project.pk, stated=stated)


@pytest.mark.django_db
def test_the_lead_states_and_an_admin_confirms_in_the_browser() -> None:
    GpuModel.objects.filter(pk=factories.gpu_model().pk).update(suitability=1)
    project = factories.active_project()
    page = f"/projects/{project.pk}/suitability/"
    lead, admin = people.browser(project.created_by), people.browser(people.admin())
    assert lead.post(page, FORM).status_code == 302
    row = Measurement.objects.get()
    shown = admin.get(page).content.decode()
    assert f"1{THIN_SPACE}200.5 tokens/s" in shown
    assert 'href="https://example.org/run/7" rel="nofollow"' in shown
    assert "Withdraw" not in shown
    asked = admin.get(f"{page}{row.pk}/confirm/").content.decode()
    assert f"1{THIN_SPACE}200.5 tokens/s" in asked
    assert admin.post(f"{page}{row.pk}/confirm/", {"reason": ""}).status_code == 302
    row.refresh_from_db()
    assert row.state == "confirmed"
    assert "One confirmed measurement alone changes nothing" in lead.get(page).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"throughput": ""}, "Give a number over 0"),
        ({"throughput": "0"}, "is no number over 0"),
        ({"cannot_use": "on"}, "Give no number"),
        ({"unit": ""}, "Say in which unit"),
        ({"gpu_model": "h1000"}, "h1000"),
    ],
)
def test_a_form_that_cannot_be_taken_keeps_what_was_typed(changes: dict[str, str], said: str) -> None:
    factories.gpu_model()
    project = factories.active_project()
    answer = people.browser(project.created_by).post(f"/projects/{project.pk}/suitability/", {**FORM, **changes})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert said in text
    assert "https://example.org/run/7" in text


@pytest.mark.django_db
def test_a_reason_is_asked_for_before_a_rejection() -> None:
    project = factories.active_project()
    row = measured(project)
    address = f"/projects/{project.pk}/suitability/{row.pk}/reject/"
    assert people.browser(people.admin()).post(address, {"reason": ""}).status_code == 422
    row.refresh_from_db()
    assert row.state == "proposed"


@pytest.mark.django_db
def test_the_page_costs_the_same_for_few_and_many() -> None:
    project = factories.active_project()
    measured(project)
    admin: Person = people.admin()
    browser, address = people.browser(admin), f"/projects/{project.pk}/suitability/"
    few = cost(browser, address)
    for model in ("a100", "l4", "t4"):
        services.measurement_confirm(actor=factories.admin(), measurement_id=measured(project, model).pk)
        measured(project, model)
    assert cost(browser, address) == few
    assert few <= 25


@pytest.mark.django_db
def test_the_decision_page_shows_its_evidence_and_costs_the_same_for_many() -> None:
    lead = people.person()
    factories.active_project(name="Weather emulator", goal="Fifty members")
    project = factories.submitted_project(lead=lead, name="Weather emulators", goal="Fifty members for one")
    browser = people.browser(people.director())
    address = browser.get(f"/projects/{project.pk}/decide/")["Location"]
    few = cost(browser, address)
    services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason="Which weather?")
    services.project_edit(actor=lead, project_id=project.pk, changes={"goal": "Fifty members for the price of one"})
    services.project_submit(actor=lead, project_id=project.pk, answer="That of next week")
    for index in range(4):
        factories.active_project(name=f"Weather emulator {index}")
    assert cost(browser, address) <= max(few, 25)
    text = browser.get(address).content.decode()
    for shown in ("Which weather?", "That of next week", "Weather emulator 1", "in common:"):
        assert shown in text
    assert "Changed since it was last submitted" in text
    assert "Fifty members for one" in text


@pytest.mark.django_db
def test_a_first_submission_has_no_changes_and_no_thread() -> None:
    project = factories.submitted_project()
    text = people.browser(people.director()).get(f"/projects/{project.pk}/decide/", follow=True).content.decode()
    assert "Changed since it was last submitted" not in text
    assert "Questions and answers" not in text


@pytest.mark.django_db
def test_the_api_shows_what_counts_and_takes_what_is_stated() -> None:
    for name, rate in (("h100", "1"), ("a100", "0.45")):
        GpuModel.objects.filter(pk=factories.gpu_model(name).pk).update(suitability=rate)
    project = factories.active_project()
    lead, admin = people.api_client(project.created_by), people.api_client(people.admin())
    address = f"/api/v1/projects/{project.pk}/suitability/"
    for name, throughput in (("h100", 1000), ("a100", 620)):
        made = lead.post(address, {**FORM, "gpu_model": name, "throughput": throughput})
        assert (made.status_code, made.json()["state"]) == (201, "proposed")
        assert admin.post(f"{address}{made.json()['id']}/confirm/").json()["state"] == "confirmed"
    line = next(row for row in admin.get(address).json()["results"] if row["gpu_model"] == "a100")
    assert (line["suitability"], line["source"], line["default"], line["reference"]) == (0.62, "measured", 0.45, "h100")
    assert line["confirmed"]["throughput"] == 620
    assert admin.post(f"{address}{made.json()['id']}/confirm/").status_code == 409
    refused = lead.post(address, {**FORM, "cannot_use": True})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["throughput"])
    assert [row["gpu_model"] for row in lead.get(f"{address}history/").json()["results"]] == ["a100", "h100"]


@pytest.mark.django_db(transaction=True)
def test_two_confirmations_at_once_are_one() -> None:
    project = factories.active_project()
    row = measured(project)
    clients = [people.api_client(people.admin()), people.api_client(people.admin())]
    address = f"/api/v1/projects/{project.pk}/suitability/{row.pk}/confirm/"
    codes = at_once(project, [partial(client.post, address) for client in clients])
    assert sorted(codes) == [200, 409]
    assert StateChange.objects.filter(machine="measurement", event="confirm").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_new_statement_and_a_confirmation_at_once_leave_one_that_counts_or_one_that_waits() -> None:
    project = factories.active_project()
    row = measured(project)
    lead, admin = people.api_client(project.created_by), people.api_client(people.admin())
    address = f"/api/v1/projects/{project.pk}/suitability/"
    at_once(project, [partial(lead.post, address, FORM), partial(admin.post, f"{address}{row.pk}/confirm/")])
    states = sorted(Measurement.objects.values_list("state", flat=True))
    assert states in (["proposed", "superseded"], ["confirmed", "proposed"])
