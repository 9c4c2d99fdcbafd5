"""The tabs over the table: opened by default, changed, reset, saved as another, in their order, counted truly."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.tests import factories as people
from portal.models import SavedView
from portal.pages.views import services
from portal.tests.pages.crowd import crowd
from portal.tests.pages.saved import page, save, tabs
from projects.models import ResearchArea, Tier
from projects.tests import factories

pytestmark = pytest.mark.django_db


# --- the default


def test_the_table_opens_with_the_default_view_and_all_projects_stay_a_click_away() -> None:
    owner = people.person()
    factories.active_project(lead=owner, name="Active one")
    factories.draft_project(lead=owner, name="Draft one")
    browser = people.browser(owner)
    view = save(owner, is_default=True)
    assert browser.get("/projects")["Location"] == f"/projects?view={view.pk}"
    text = page(browser)
    assert "Draft one" not in text
    assert 'href="/projects?view=all"' in text
    assert "Draft one" in page(browser, "/projects?view=all")
    browser.post(f"/projects/views/{view.pk}/default", {"on": "no"})
    assert browser.get("/projects").status_code == 200


def test_a_default_that_is_no_longer_shared_is_no_default() -> None:
    owner, other = people.person(), people.person()
    shared = save(owner, is_shared=True)
    services.view_change(actor=other, view_id=shared.pk, changes={"is_default": True})
    browser = people.browser(other)
    assert browser.get("/projects").status_code == 302
    services.view_change(actor=owner, view_id=shared.pk, changes={"is_shared": False})
    assert browser.get("/projects").status_code == 200


# --- changed, reset, saved as another


def test_a_view_that_is_looked_at_otherwise_can_be_updated_saved_as_new_or_reset() -> None:
    owner = people.person()
    factories.active_project(lead=owner)
    view, browser = save(owner), people.browser(owner)
    plain = page(browser, f"/projects?view={view.pk}")
    assert "Update view" not in plain
    assert "Save view" not in plain
    changed = page(browser, f"/projects?view={view.pk}&state=active&sort=-used")
    assert "Update view" in changed
    assert "Save as new" in changed
    assert f'href="/projects?view={view.pk}">Reset' in changed
    browser.post(f"/projects/views/{view.pk}/update", {"query": "state=active&sort=-used"})
    view.refresh_from_db()
    assert view.query == "state=active&sort=-used"
    same = page(browser, f"/projects?view={view.pk}&sort=-used&state=active")
    assert "Update view" not in same


def test_a_view_whose_filters_are_all_taken_away_is_not_the_view() -> None:
    owner = people.person()
    factories.draft_project(lead=owner, name="Draft one")
    view = save(owner)
    text = page(people.browser(owner), f"/projects?view={view.pk}")
    cleared = re.search(r'class="chip-clear" href="\?([^"]+)"', text)
    assert cleared
    assert "Draft one" in page(people.browser(owner), f"/projects?{cleared[1].replace('&amp;', '&')}")


def test_save_is_offered_for_what_no_tab_shows() -> None:
    browser = people.browser(people.auditor())
    factories.active_project(tier=Tier.HIGH)
    assert "Save view" not in page(browser, "/projects")
    assert "Save view" not in page(browser, "/projects?tier=high")
    assert "Save view" in page(browser, "/projects?tier=high&state=active")


def test_the_form_keeps_the_address_of_the_table_and_says_what_is_wrong() -> None:
    owner = people.person()
    browser = people.browser(owner)
    answer: Any = browser.post("/projects/views/new?state=active&sort=-name", {"name": ""})
    assert answer.status_code == 422
    answer = browser.post("/projects/views/new?state=active&sort=-name&page=2", {"name": "New", "is_default": "on"})
    view = SavedView.objects.get()
    assert answer["Location"] == f"/projects?view={view.pk}"
    assert (view.query, view.is_shared) == ("state=active&sort=-name", False)
    answer = browser.post("/projects/views/new?columns=goal", {"name": "Wrong"})
    assert answer.status_code == 422
    assert "goal" in answer.content.decode()


# --- order, counts, many


def test_ones_own_views_keep_the_order_given_to_them() -> None:
    owner = people.person()
    first, second, third = (save(owner, name) for name in ("First", "Second", "Third"))
    browser = people.browser(owner)
    browser.post(f"/projects/views/{third.pk}/earlier")
    browser.post(f"/projects/views/{first.pk}/later")
    browser.post(f"/projects/views/{second.pk}/later")
    assert [word for word, _count in tabs(page(browser))][4:] == ["Third", "First", "Second"]
    assert browser.post(f"/projects/views/{save(people.person()).pk}/later").status_code == 404


def test_thirty_views_fold_and_cost_no_statement_each() -> None:
    crowd(20)
    auditor = people.auditor()
    browser = people.browser(auditor)
    view = save(auditor, "Number 0")

    def cost(address: str) -> int:
        page(browser, address)
        with CaptureQueriesContext(connection) as captured:
            page(browser, address)
        return len(captured)

    before = cost(f"/projects?view={view.pk}")
    for number in range(1, 30):
        save(auditor, f"Number {number}")
        save(people.person(), f"Shared {number}", is_shared=True)
    assert cost(f"/projects?view={view.pk}") == before <= 12
    assert cost("/projects?view=all") <= 12
    text = page(browser, "/projects?view=all")
    assert [word for word, _count in tabs(text)][4:] == ["Number 0", "Number 1", "Number 2"]
    assert "56 more views" in text
    last = SavedView.objects.get(name="Number 29")
    assert tabs(page(browser, f"/projects?view={last.pk}"))[-1][0] == "Number 29"


@pytest.mark.parametrize(
    "query",
    [
        "state=active",
        "state=active&state=draft",
        "stage=training&tier=high&tier=none",
        "late=true",
        "late=false&kind=product",
        "area=vision",
        "lead=LEADER",
        "",
        "sort=-used",
    ],
)
def test_the_count_of_a_tab_is_what_the_table_shows(query: str) -> None:
    crowd(60)
    ResearchArea.objects.get_or_create(name="vision", defaults={"title": "Vision"})
    leader = people.person("leader")
    factories.active_project(lead=leader, area="vision", stage="training")
    factories.draft_project(lead=leader, kind="product", stage="")
    auditor = people.auditor()
    save(auditor, "Counted", query)
    text = page(people.browser(auditor), f"/projects?view={SavedView.objects.get().pk}")
    shown = re.search(r'<span class="count"><b>(\d+)</b>', text)
    assert shown
    assert dict(tabs(text))["Counted"] == shown[1]


@pytest.mark.parametrize("query", ["q=anything", "model=h100"])
def test_a_count_that_the_rows_do_not_say_is_left_out(query: str) -> None:
    crowd(5)
    auditor = people.auditor()
    save(auditor, "Uncounted", query)
    assert dict(tabs(page(people.browser(auditor), "/projects?view=all")))["Uncounted"] == ""
