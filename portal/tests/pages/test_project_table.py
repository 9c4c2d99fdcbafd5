"""The full project table: what it costs, how it sorts, narrows, sums and exports."""

import csv
import io
import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from openpyxl import load_workbook

from accounts.models import Person
from accounts.tests import factories as people
from inventory.services import PriceSpec, price_set
from kernel import clock
from kernel.spreadsheet import safe
from portal.pages.table.columns import ORDER
from portal.pages.table.rows import SPARK_DAYS, complete, registry_rows
from portal.pages.views.services import ViewSpec, view_create
from portal.tests.pages import world
from portal.tests.pages.crowd import crowd
from projects.models import Project, Tier
from projects.tests import factories
from scheduling.tests import factories as running

pytestmark = pytest.mark.django_db
ALL = "&".join(f"columns={key}" for key in ORDER)
MOST_STATEMENTS = 12


def text(answer: Any) -> str:
    assert answer.status_code == 200, answer.content[:300]
    return str(answer.content.decode())


def names(browser: Any, query: str) -> list[str]:
    """The names of the rows in order, read from the export of the same address."""
    answer = browser.get(f"/projects/export/csv?{query}")
    assert answer.status_code == 200
    return [line[0] for line in csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))][1:]


def sheet_of(answer: Any) -> Any:
    assert answer.status_code == 200
    return load_workbook(io.BytesIO(answer.content)).worksheets[0]


def test_three_hundred_projects_cost_a_dozen_statements() -> None:
    made = crowd(300)
    browser = people.browser(people.auditor())
    browser.get("/projects")
    for columns in (ALL, "", "columns=kind"):
        with CaptureQueriesContext(connection) as captured:
            page = text(browser.get(f"/projects?{columns}"))
        assert len(captured) <= MOST_STATEMENTS, "\n".join(query["sql"][:160] for query in captured)
        assert page.count("<tr data-used") == len(made)
        assert "<b>300</b>" in page
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(f"/projects/export/csv?{ALL}").status_code == 200
    assert len(captured) <= MOST_STATEMENTS, "\n".join(query["sql"][:160] for query in captured)


def test_only_what_the_columns_need_is_asked_for() -> None:
    crowd(5)
    browser = people.browser(people.auditor())
    browser.get("/projects")

    def asked(query: str) -> str:
        with CaptureQueriesContext(connection) as captured:
            text(browser.get(f"/projects?{query}"))
        return "\n".join(entry["sql"] for entry in captured)

    plain = asked("columns=stage")
    for table in ("quotas_claim", "scheduling_deviceallocation", "inventory_nodeprice", "monitoring_gpulatest"):
        assert table not in plain
        assert table in asked(ALL)
    assert "quotas_claim" in asked("columns=stage&sort=-guaranteed")


def test_who_uses_most_stands_first_unless_the_address_says_otherwise() -> None:
    where = world.make()
    factories.draft_project(name="A draft")
    factories.active_project(name="An idle one")
    browser = people.browser(people.auditor())
    assert names(browser, "")[:3] == ["Protein dynamics", "A draft", "An idle one"]
    page = text(browser.get("/projects"))
    [used] = re.findall(r'<th scope="col" class="[^"]*is-key[^"]*"([^>]*)>', page)
    assert 'aria-sort="descending"' in used
    assert "Do not sort by" not in page
    assert names(browser, "sort=name")[:2] == ["A draft", "An idle one"]
    assert 'aria-sort="ascending"' in text(browser.get("/projects?sort=name"))
    unseen = names(browser, "columns=stage")
    assert unseen == sorted(unseen, key=str.casefold)
    assert "aria-sort" not in text(browser.get("/projects?columns=stage"))
    view = view_create(actor=where.lead, spec=ViewSpec(name="Mine", query="sort=name"))
    assert names(people.browser(where.lead), f"view={view.pk}") == names(people.browser(where.lead), "sort=name")


def test_rows_sort_by_several_keys_and_the_unknown_comes_last() -> None:
    auditor = people.auditor()
    factories.active_project(name="A low", tier=Tier.LOW, stage="training")
    factories.active_project(name="B high", tier=Tier.HIGH, stage="training")
    factories.active_project(name="C high", tier=Tier.HIGH, stage="exploration")
    factories.draft_project(name="D none", stage="")
    browser = people.browser(auditor)
    assert names(browser, "sort=tier,-name") == ["C high", "B high", "A low", "D none"]
    assert names(browser, "sort=-tier,name") == ["A low", "B high", "C high", "D none"]
    assert names(browser, "sort=stage,name") == ["C high", "A low", "B high", "D none"]
    assert names(browser, "sort=-name") == ["D none", "C high", "B high", "A low"]


@pytest.mark.parametrize(
    "query", ["sort=goal", "sort=models", "columns=password", "area=nowhere", "model=tpu", "late=maybe", "ids=x"]
)
def test_what_the_address_may_not_ask_is_refused(query: str) -> None:
    browser = people.browser(people.auditor())
    assert browser.get(f"/projects?{query}").status_code == 422
    assert browser.get(f"/projects/export/csv?{query}").status_code == 422


def test_filters_narrow_by_lead_quota_area_and_lateness() -> None:
    where = world.make()
    browser = people.browser(people.auditor())
    assert names(browser, f"lead={where.lead.username}&late=true") == ["Protein dynamics"]
    assert names(browser, "model=h100") == ["Protein dynamics"]
    assert "Protein dynamics" not in names(browser, "late=false")
    page = text(browser.get("/projects?late=true"))
    assert "<b>1</b>" in page
    assert "of 3" in page


def test_figures_stand_beside_the_registry_and_sum_up() -> None:
    where = world.make()
    answer = people.browser(where.lead).get(
        "/projects/export/csv?columns=used&columns=guaranteed&columns=limit"
        "&columns=models&columns=utilisation&state=active"
    )
    lines = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert lines[1:] == [["Protein dynamics", "4", "2.0", "4", "8", "91.0"]]
    page = text(people.browser(where.lead).get("/projects?state=active"))
    assert "Sum of 1" in page
    assert "2 used, 4 guaranteed, limit 8" in page


def test_cost_is_unknown_where_no_price_is_and_exact_where_one_is(freeze: Any) -> None:
    freeze(clock.now().replace(day=10))
    node = running.node("alpha", gpus=8)
    project = running.project(running.person("cost-lead"), name="Costly")
    running.running_job(project, [node], milli_gpus=2000, max_runtime_s=7200)
    browser = people.browser(people.auditor())

    def cost(at: datetime) -> str:
        with clock.frozen(at):
            answer = browser.get("/projects/export/csv?columns=cost&q=Costly")
        return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))[1][1]

    start = clock.now()
    assert cost(start + timedelta(hours=1)) == "unknown"
    terms = PriceSpec(Decimal("3.00"), currency="EUR")
    price_set(actor=node.node.accepted_by, node_id=node.node.pk, price=terms)
    assert cost(start + timedelta(hours=1)) == "6.0"


def test_what_a_simulation_would_have_cost_is_marked_and_never_summed_with_money(freeze: Any) -> None:
    freeze(clock.now().replace(day=10))
    node = running.node("alpha", gpus=8)
    project = running.project(running.person("cost-lead"), name="Costly")
    running.running_job(project, [node], milli_gpus=2000, max_runtime_s=7200)
    price_set(actor=node.node.accepted_by, node_id=node.node.pk, price=PriceSpec(Decimal("3.00"), currency="EUR"))
    [held, simulated] = node.node.devices.filter(allocations__released_at__isnull=True).filter(
        allocations__isnull=False
    )
    simulated.is_simulated = True
    simulated.save()
    browser = people.browser(people.auditor())
    with clock.frozen(clock.now() + timedelta(hours=2)):
        answer = browser.get("/projects/export/csv?columns=cost&columns=simulated_cost&q=Costly")
        page = text(browser.get("/projects?columns=cost&columns=simulated_cost&q=Costly"))
    head, line = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert dict(zip(head, line, strict=True)) == {
        "Project": "Costly",
        "Cost this month": "6.0",
        "Simulated cost this month": "6.0",
    }
    assert not held.is_simulated
    assert "12.00 EUR" not in page
    assert 'class="simulated" title="simulated: what it would have cost' in page


def test_a_line_does_not_fall_because_the_day_has_just_begun(freeze: Any) -> None:
    freeze(clock.now().replace(day=10, hour=12, minute=0, second=0, microsecond=0))
    node = running.node("alpha", gpus=8)
    project = running.project(running.person("steady-lead"), name="Steady")
    running.running_job(project, [node], milli_gpus=2000)
    freeze(clock.now() + timedelta(days=20, hours=14))
    rows = registry_rows(Project.objects.filter(pk=project.pk), None)
    complete(rows, {"days"}, {})
    assert rows[0].means == pytest.approx([2.0] * SPARK_DAYS)
    assert rows[0].days == pytest.approx([48.0] * (SPARK_DAYS - 1) + [4.0])


def test_a_stranger_sees_and_exports_nothing_of_others() -> None:
    factories.active_project(name="Hidden", tier=Tier.HIGH)
    stranger: Person = people.person()
    assert "Hidden" not in text(people.browser(stranger).get("/projects"))
    assert names(people.browser(stranger), f"ids={Project.objects.get().pk}") == []


def test_export_has_exactly_what_is_seen() -> None:
    first = factories.active_project(name="第一 α", tier=Tier.HIGH)
    factories.active_project(name="Second")
    browser = people.browser(people.auditor())
    answer = browser.get("/projects/export/xlsx?columns=members&columns=updated_at&columns=milestone&sort=-name")
    sheet = sheet_of(answer)
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("Project", "Milestone", "People", "Changed (UTC)")
    assert [row[0] for row in rows[1:]] == ["第一 α", "Second"]
    assert rows[1][2] == 1
    assert rows[1][3] == first.updated_at.replace(tzinfo=None, microsecond=0)
    assert isinstance(rows[1][1], datetime)
    csv_answer = browser.get("/projects/export/csv?columns=members")
    assert csv_answer.content.startswith(b"\xef\xbb\xbf")
    assert names(browser, f"ids={first.pk}") == ["第一 α"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\n="])
def test_no_text_becomes_a_formula(start: str) -> None:
    assert safe(f"{start}HYPERLINK(1)").startswith("'")
    assert safe("a\x00b\x0b") == "ab"
    assert safe("plain = text") == "plain = text"


def test_a_formula_in_a_name_stays_text_in_both_files() -> None:
    factories.draft_project(name='=cmd|"/c calc"!A1')
    browser = people.browser(people.auditor())
    assert names(browser, "") == ['\'=cmd|"/c calc"!A1']
    sheet = sheet_of(browser.get("/projects/export/xlsx"))
    assert sheet["A2"].data_type == "s"
    assert sheet["A2"].value.startswith("'=")
