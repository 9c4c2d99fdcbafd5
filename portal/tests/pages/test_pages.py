"""What the composed pages say, to whom."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.template.base import Template
from django.template.context import Context
from django.test import Client

from accounts.models import Role
from accounts.tests import factories as people
from approvals.waiting_count import waiting_count
from inventory.models import Node
from kernel import clock
from portal.pages import columns
from portal.tests.pages import world
from scheduling.tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def where() -> world.World:
    return world.make()


def shown(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_home_shows_a_lead_what_waits_and_what_runs(where: world.World) -> None:
    page = shown(people.browser(where.lead), "/")
    assert "Was “First result” met?" in page
    assert "3 days late" in page
    assert "Finish and submit" in page
    assert "Protein dynamics" in page
    assert "91 % utilised" in page
    assert where.waiting.reason.split("'")[0][:40] in page
    assert "Promised against used" not in page
    assert "asked by" not in page


def test_home_shows_an_admin_the_supply_and_foreign_submissions_only(where: world.World) -> None:
    browser = people.browser(people.admin())
    page = shown(browser, "/")
    assert 'hx-get="/organisation"' in page
    assert "Promised against used" in shown(browser, "/organisation")
    assert page.count("Registration of a project, asked by") == 1
    assert "Your projects" not in page
    assert re.search(r"<b>Protein dynamics</b></a> .*Approved|<b>Protein dynamics</b></a> .*approved", page)


def test_home_of_somebody_new_says_how_to_begin(where: world.World) -> None:
    page = shown(people.browser(people.person()), "/")
    assert "First steps" in page
    assert "Protein dynamics" not in page
    assert people.browser().get("/").status_code == 302


def test_home_of_the_only_admin_leads_to_accounts_for_others() -> None:
    page = shown(people.browser(people.admin()), "/organisation")
    assert "Create accounts" in page
    assert 'href="/people/new"' in page


def test_the_project_page_composes_quota_use_and_jobs(where: world.World) -> None:
    browser = people.browser(where.lead)
    page = shown(browser, f"/projects/{where.project.pk}/")
    assert "2 used, 4 guaranteed, limit 8" in page
    assert "long-range" in page
    assert f"/projects/{where.project.pk}/use?use=7d" in page
    assert f"/projects/{where.project.pk}/allotment" in page
    assert "“First result” was due" in page
    assert f"/api/v1/telemetry/projects/{where.project.pk}" in shown(browser, f"/projects/{where.project.pk}/jobs")
    assert "GPU-hours per day over 14 days" in shown(browser, f"/projects/{where.project.pk}/cost")
    stranger = people.browser(people.person())
    assert stranger.get(f"/projects/{where.project.pk}").status_code == 404


def test_the_head_of_a_project_says_what_it_is_and_offers_what_one_may(where: world.World) -> None:
    address = f"/projects/{where.project.pk}/"
    page = shown(people.browser(where.lead), address)
    assert "High tier" not in page
    assert ", stage 1 of 6</span>" in page
    assert "<span>1 person</span>" in page
    assert f'href="/jobs/new?project={where.project.pk}"' in page
    assert "Grant a quota" not in page
    admin = shown(people.browser(people.admin()), address)
    assert f'href="/quotas/grant?project={where.project.pk}"' in admin
    assert "New job" not in admin
    assert admin.count("btn-primary") == 1


def test_milestones_say_in_words_how_they_stand(where: world.World) -> None:
    page = shown(people.browser(where.lead), f"/projects/{where.project.pk}/")
    assert re.search(r"overdue, \d+ \w+ \d{4}", page)
    where.project.milestones.update(due_on=clock.now().date() + timedelta(days=3))
    assert re.search(r">due \d+ \w+ \d{4}<", shown(people.browser(where.lead), f"/projects/{where.project.pk}/"))
    where.project.milestones.update(met_on=clock.now().date())
    assert re.search(r">met \d+ \w+ \d{4}<", shown(people.browser(where.lead), f"/projects/{where.project.pk}/"))


def test_gpu_hours_of_the_project_are_those_of_the_ledger(where: world.World) -> None:
    with clock.frozen(clock.now() + timedelta(hours=3)):
        page = shown(people.browser(where.lead), f"/projects/{where.project.pk}/cost")
    assert "6.0 in 14 days" in page


def test_the_first_seconds_of_use_are_neither_nothing_nor_a_full_column(where: world.World) -> None:
    with clock.frozen(where.running.submitted_at + timedelta(seconds=5)):
        page = shown(people.browser(where.lead), f"/projects/{where.project.pk}/cost")
    assert "&lt; 0.01 in 14 days" in page
    assert 'class="column-scale"' in page


def test_the_cluster_counts_what_is_held_free_and_silent(where: world.World) -> None:
    browser = people.browser(people.person())
    page = shown(browser, "/cluster/")
    assert "alpha, up, 2 of 8 GPUs held, mean 91 %" in page
    part = browser.get("/cluster/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    with clock.frozen(clock.now() + timedelta(minutes=10)):
        silent = shown(browser, "/cluster/")
    assert "mean 91 %" not in silent
    assert "no data: 2" in silent
    assert "No node here" in shown(browser, "/cluster/?pool=nowhere")


@pytest.mark.parametrize("address", ["/cluster/", "/lanes", "/projects/", "/nowhere", "/api/v1/projects/"])
def test_nobody_keeps_a_page_for_another_or_a_part_for_a_page(address: str, where: world.World) -> None:
    answer = people.browser(people.admin()).get(address)
    assert answer["Cache-Control"] == "private, no-cache"
    assert {"Cookie", "HX-Request"} <= set(answer["Vary"].split(", "))


def test_a_node_names_jobs_only_to_those_who_may_see_them(where: world.World) -> None:
    address = f"/cluster/nodes/{where.node.node.pk}/"
    assert "long-range, Protein dynamics" in shown(people.browser(where.lead), address)
    stranger = shown(people.browser(people.person()), address)
    assert "long-range" not in stranger
    assert "a job of another project" in stranger
    assert "Drain" not in stranger


def test_draining_asks_with_the_jobs_that_are_there(where: world.World) -> None:
    admin, address = people.browser(people.admin()), f"/cluster/nodes/{where.node.node.pk}"
    asked = shown(admin, f"{address}/drain")
    assert "1 job is on it, on 2 GPUs:" in asked
    assert "long-range, Protein dynamics" in asked
    assert admin.post(f"{address}/drain").status_code == 302
    assert Node.objects.get(pk=where.node.node.pk).state == "draining"
    assert admin.post(f"{address}/undrain").status_code == 302
    assert admin.post(f"{address}/undrain").status_code == 409
    assert admin.post(f"{address}/declare-lost").status_code == 409
    assert people.browser(where.lead).post(f"{address}/drain").status_code == 403


def test_search_finds_only_what_may_be_seen(where: world.World) -> None:
    own = shown(people.browser(where.lead), "/search/?q=pro")
    assert "Protein dynamics" in own
    assert "probe" in own
    other = shown(people.browser(people.person()), "/search/?q=pro")
    assert "Protein dynamics" not in other
    assert "probe" not in other
    assert "Nothing found" in shown(people.browser(people.person()), "/search/?q=page-lead")
    assert "Page-Lead" in shown(people.browser(people.person("seer", Role.AUDITOR)), "/search/?q=page-lead")
    assert "Nothing found" in shown(people.browser(where.lead), "/search/?q=zzzz")


def test_a_script_in_a_name_stays_text(where: world.World) -> None:
    evil = "<script>alert(1)</script>"
    factories.project(where.lead, name=evil)
    factories.job(where.project, name=evil)
    for address in ("/", f"/projects/{where.project.pk}", "/jobs", "/search?q=script"):
        assert evil not in shown(people.browser(where.lead), address)


def test_templates_ask_no_database(where: world.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is read before the page is written; only the frame looks up roles, where no view has, and counts."""
    render, seen = Template.render, {}
    of_project = [f"/projects/{where.project.pk}{part}" for part in ("", "/jobs", "/cost", "/allotment")]

    def statements() -> int:
        of_frame = ("accounts_rolegrant", "rail_projects")
        return sum(not any(name in entry["sql"] for name in of_frame) for entry in connection.queries_log)

    def counting(self: Template, context: Context) -> str:
        before = statements()
        text: str = render(self, context)
        if self.name and self.name.startswith("portal/"):
            seen[self.name] = statements() - before
        return text

    # The rail's figure is kept for half a minute.
    waiting_count(where.lead)
    monkeypatch.setattr(Template, "render", counting)
    connection.force_debug_cursor = True
    try:
        for address in ("/", *of_project, "/cluster", f"/cluster/nodes/{where.node.node.pk}"):
            shown(people.browser(where.lead), address)
    finally:
        connection.force_debug_cursor = False
    assert {f"portal/{name}.html" for name in ("home", "cluster", "node")} <= set(seen)
    assert {f"portal/project/{name}.html" for name in ("overview", "jobs", "cost", "_allotment")} <= set(seen)
    assert {name: count for name, count in seen.items() if count} == {}


@pytest.mark.parametrize(
    ("most", "end"),
    [(0, 1), (0.004, 1), (1, 1), (1.01, 2), (2, 2), (4.9, 5), (8, 10), (10, 10), (11, 20), (430, 500), (7200, 10000)],
)
def test_a_scale_ends_at_a_round_amount_and_never_under_one(most: float, end: float) -> None:
    assert columns.scale_end(most) == end


def test_columns_stack_on_one_scale_and_name_each_part() -> None:
    full = columns.Day(
        "1 Jun", (columns.Part(6, "model-h100", "h100: 6"), columns.Part(2, "model-a100", "a100: 2")), "8"
    )
    half = columns.Day("2 Jun", (columns.Part(4, "model-h100", "h100: 4"),), "4", is_partial=True)
    drawn = columns.day_columns([full, half, columns.Day("3 Jun", (), "0")], label="<hours>")
    assert 'height="57.60"' in drawn
    assert 'height="19.20"' in drawn
    assert 'height="38.40"' in drawn
    assert ">10</text>" in drawn
    assert ">5</text>" in drawn
    assert "bar-pale" in drawn
    assert "&lt;hours&gt;" in drawn
    assert drawn.count(">0<") == 1  # where the scale begins; a day without use says nothing


def test_an_empty_node_is_maintained_and_removed_on_its_page() -> None:
    fake = factories.node("spare", gpus=2)
    address, admin = f"/cluster/nodes/{fake.node.pk}", people.browser(people.admin())
    assert admin.post(f"{address}/maintain").status_code == 409
    admin.post(f"{address}/drain")
    assert "Maintain" in shown(admin, address)
    assert admin.post(f"{address}/maintain").status_code == 302
    assert "Remove" in shown(admin, address)
    assert "no longer count as capacity" in shown(admin, f"{address}/remove")
    assert admin.post(f"{address}/remove")["Location"] == "/cluster"
    assert Node.objects.get(pk=fake.node.pk).state == "removed"
