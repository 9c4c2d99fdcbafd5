"""A view of the project table is saved, shared, opened by a colleague with their own rows, and copied."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
NAME = "Active, most used first"


def shown(page: Page) -> int:
    """How many projects the table says it shows."""
    return int(str(page.locator(".filters > .count b").text_content()).replace("\u2009", ""))


def current_tab(page: Page) -> str:
    return str(page.locator(".view-strip .tab[aria-current] .tab-word").text_content())


def test_a_view_is_saved_shared_opened_by_a_colleague_and_copied(visitor: Callable[[str], Visitor]) -> None:
    director, lead = visitor("director"), visitor("lead")
    address = saves_and_shares(director)
    opens_and_copies(lead, address, shown(director.page))
    sorts_by_two_and_resets(director)
    deletes_and_undoes(director)


def saves_and_shares(director: Visitor) -> str:
    page = director.page
    director.goes_to("/projects?state=active&sort=-used")
    director.finds_no_barrier()
    page.get_by_role("link", name="Save view").click()
    dialog = page.locator("#confirm-dialog")
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_label("Share with everybody").check()
    director.finds_no_barrier()
    dialog.get_by_role("button", name="Save view").click()
    page.wait_for_url(re.compile(r"/projects\?view=\d+$"))
    assert current_tab(page) == NAME
    assert page.locator(".view-strip .tab[aria-current] .count").text_content() == str(shown(page))
    return page.url


def opens_and_copies(lead: Visitor, address: str, all_of_them: int) -> None:
    page = lead.page
    lead.goes_to("/projects")
    page.locator(".view-menu summary").filter(has_text="more view").click()
    page.locator(".view-menu").get_by_role("link", name=NAME).first.click()
    assert page.url == address
    assert 0 < shown(page) < all_of_them
    lead.finds_no_barrier()
    page.get_by_label(f"The view {NAME}").click()
    expect(page.get_by_role("link", name="Rename, share…")).to_have_count(0)
    page.get_by_role("button", name="Copy to mine").click()
    expect(page.locator(".toast-line")).to_contain_text("is a view of yours now")
    assert page.url != address
    assert current_tab(page) == NAME
    page.get_by_label(f"The view {NAME}").click()
    expect(page.get_by_role("link", name="Rename, share…")).to_be_visible()


def sorts_by_two_and_resets(director: Visitor) -> None:
    page = director.page
    page.locator("thead").get_by_role("link", name="Tier").click(modifiers=["Shift"])
    page.wait_for_url(re.compile(r"sort=-used,tier"))
    expect(page.locator("thead .sort-place")).to_have_text(["2", "1"])
    page.get_by_role("link", name="Reset").click()
    expect(page.get_by_role("button", name="Update view")).to_have_count(0)


def deletes_and_undoes(director: Visitor) -> None:
    page = director.page
    page.get_by_label(f"The view {NAME}").click()
    page.get_by_role("link", name="Delete…").click()
    page.locator("#confirm-dialog").get_by_role("button", name="Delete").click()
    toast = page.locator(".toast-line")
    expect(toast).to_contain_text("is deleted")
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast-line")).to_contain_text("is back")
    assert current_tab(page) == NAME


def test_stages_are_changed_after_a_preview_and_taken_back(visitor: Callable[[str], Visitor]) -> None:
    lead = visitor("lead")
    page = lead.page
    lead.goes_to("/projects?state=active&sort=name")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[data-bulk-count]")).to_have_text("1")
    page.get_by_role("button", name="Change stage…").click()
    page.get_by_label("Stage").select_option("production")
    expect(page.locator("#changing")).to_contain_text("→ Production")
    lead.finds_no_barrier()
    page.get_by_role("button", name="Change 1 project").click()
    toast = page.locator(".toast-line")
    expect(toast).to_contain_text("1 project: Stage is Production.")
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast-line")).to_contain_text("1 project is as it was.")
