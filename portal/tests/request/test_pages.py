"""The page of a request and the list: each state, what may be done, hostile and Chinese text, and their cost."""

import csv
import io

import openpyxl
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role
from accounts.tests import factories as people
from inventory.models import GpuModel
from portal.tests.request.test_form import lead, model, project, text
from projects.models import Project
from projects.tests.factories import active_project
from quotas.models import QuotaRequest
from quotas.states import RequestState
from quotas.tests import asking
from quotas.tests import factories as make

__all__ = ["lead", "model", "project"]
pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert('1')</script>"
MOST_STATEMENTS = 25


def page_of(row: QuotaRequest) -> str:
    return f"/quota-requests/{row.pk}"


def test_a_draft_can_be_gone_on_with_or_discarded(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.draft(project, model, 8)
    page = text(lead.get(page_of(row)))
    assert "It is not sent yet" in page
    assert f"/quota-requests/{row.pk}/edit" in page
    assert "Discard this draft?" in text(lead.get(page_of(row) + "/give-up"))
    assert lead.post(page_of(row) + "/give-up").status_code == 302
    row.refresh_from_db()
    assert row.state == RequestState.WITHDRAWN
    assert page_of(row) not in text(lead.get("/quota-requests"))


def test_what_waits_is_withdrawn_with_a_reason(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.submitted(project, model, 40)
    page = text(lead.get(page_of(row)))
    assert f'href="/approvals/{asking.approval(row).pk}"' in page
    assert f"/quota-requests/{row.pk}/edit" not in page
    assert lead.post(page_of(row) + "/give-up", {"reason": "not needed"}).status_code == 302
    row.refresh_from_db()
    assert row.state == RequestState.WITHDRAWN
    assert "It was taken back" in text(lead.get(page_of(row)))


def test_less_than_asked_is_marked(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.submitted(project, model, 40)
    asking.vote(row, changes={"guaranteed": 32, "limit": 32})
    if asking.approval(row).is_open:
        asking.vote(row, by=asking.decider("second", Role.DIRECTOR))
    page = text(lead.get(page_of(row)))
    assert '<td>40</td><td class="is-other">32 <span class="help">not as asked</span></td>' in page
    story = text(lead.get(f"/projects/{project.pk}/quota"))
    assert f'<a class="is-in-text" href="/quota-requests/{row.pk}">request {row.pk}</a>' in story


def test_a_question_and_a_refusal_are_told(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.submitted(project, model, 40)
    asking.vote(row, "return", comment="Why not A100?")
    page = text(lead.get(page_of(row)))
    assert "Why not A100?" in page
    assert "Answer and submit again" in page
    other = asking.submitted(active_project(name="Winds"), model, 40)
    asking.vote(other, "reject")
    assert "Declined" in text(people.browser(asking.lead_of(other.project)).get(page_of(other)))


def test_asking_again_makes_a_draft(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.submitted(project, model, 40)
    answer = lead.post(page_of(row) + "/again")
    copy = QuotaRequest.objects.get(cloned_from=row)
    assert answer["Location"] == f"/quota-requests/{copy.pk}/edit"
    assert f"Asked again as request {copy.pk}" in text(lead.get(page_of(row)))


def test_markup_and_chinese_are_text(model: GpuModel) -> None:
    name = "城市交通仿真" * 20
    project = active_project(name=name)
    row = asking.draft(project, model, 40, reason=SCRIPT)
    browser = people.browser(asking.lead_of(project))
    for address in (page_of(row), page_of(row) + "/edit", "/quota-requests", f"/projects/{project.pk}/quota"):
        page = browser.get(address).content.decode()
        assert SCRIPT not in page
        assert name in page


def test_the_list_is_filtered_and_sorted_by_what_is_allowed(lead: Client, project: Project, model: GpuModel) -> None:
    mine = asking.submitted(project, model, 40)
    other = asking.draft(active_project(name="Winds"), model, 8)
    assert page_of(other) not in text(lead.get("/quota-requests"))
    boss = people.browser(people.person("boss", Role.DIRECTOR))
    everything = text(boss.get("/quota-requests?sort=project,-guaranteed,password&state=nothing"))
    assert everything.index(page_of(mine)) < everything.index(page_of(other))
    assert page_of(other) not in text(boss.get("/quota-requests?state=submitted"))
    assert page_of(mine) not in text(boss.get(f"/quota-requests?project={other.project_id}"))
    assert page_of(mine) in text(lead.get("/quota-requests?who=mine&model=h100"))
    assert "Nothing fits these filters" in text(boss.get("/quota-requests?who=mine"))


def lines(browser: Client, query: str) -> list[list[str]]:
    content = browser.get(f"/quota-requests/export/csv?{query}").content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content)))


def test_the_list_is_exported_as_it_is_shown(lead: Client, project: Project, model: GpuModel) -> None:
    mine = asking.submitted(project, model, 40, ends_at=asking.in_days(20), reason='=cmd|"/c calc"!A1')
    other = asking.draft(active_project(name="Winds"), model, 8)
    boss = people.browser(people.person("boss", Role.DIRECTOR))
    head, first, second = lines(boss, "sort=guaranteed")
    assert [first[0], second[0]] == [str(other.pk), str(mine.pk)]
    row = dict(zip(head, second, strict=True))
    held, asked, granted = (row[f"Guaranteed, {part}"] for part in ("held", "asked for", "granted"))
    assert (held, asked, granted, row["Reason"]) == ("0", "40", "", '\'=cmd|"/c calc"!A1')
    assert row["To (UTC)"] == f"{mine.ends_at:%Y-%m-%d %H:%M:%S}"
    assert [line[0] for line in lines(boss, "state=draft")[1:]] == [str(other.pk)]
    assert [line[0] for line in lines(lead, "")[1:]] == [str(mine.pk)]
    book = openpyxl.load_workbook(io.BytesIO(boss.get("/quota-requests/export/xlsx").content))
    assert [cell.value for cell in book.worksheets[0]["A"]][1:] == [other.pk, mine.pk]
    assert boss.get("/quota-requests/export/pdf").status_code == 404


def test_the_empty_list_says_what_will_be_here(project: Project) -> None:
    page = text(people.browser(people.person()).get("/quota-requests"))
    assert "Nothing was asked for yet" in page


def test_leads_are_led_to_the_form(lead: Client, project: Project) -> None:
    address = f'href="/projects/{project.pk}/request"'
    assert address in text(lead.get(f"/projects/{project.pk}/quota"))
    assert address in text(lead.get(f"/projects/{project.pk}"))
    boss = people.browser(people.person("boss", Role.DIRECTOR))
    assert address not in text(boss.get(f"/projects/{project.pk}/quota"))


def test_pages_cost_the_same_whatever_is_there(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.draft(project, model, 8)
    sent = asking.submitted(project, model, 40, ends_at=asking.in_days(20))
    addresses = ["/quota-requests", page_of(sent), page_of(row) + "/edit", f"/projects/{project.pk}/request"]
    few = {address: _cost(lead, address) for address in addresses}
    for index in range(3):
        make.capacity(8, name=f"more{index}")
        asking.draft(project, model, 9 + index)
    many = {address: _cost(lead, address) for address in addresses}
    assert many == few
    assert max(many.values()) <= MOST_STATEMENTS, many


def _cost(browser: Client, address: str) -> int:
    browser.get(address)
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(address).status_code == 200
    return len(captured)
