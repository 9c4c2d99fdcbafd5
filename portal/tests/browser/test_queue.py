"""The queue by keyboard: the panel follows the row, rows are selected, and nothing is approved before its preview."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_director_goes_through_the_queue_by_keyboard(visitor: Callable[[str], Visitor]) -> None:
    director = visitor("director")
    page = director.page
    director.goes_to("/approvals")
    rows = page.locator("table[data-peek] tr[data-peek-url]")
    titles = [str(rows.nth(at).locator("a[data-open]").get_attribute("title")) for at in range(3)]
    panel = page.locator("#peek")
    expect(panel).to_contain_text(titles[0])
    for title in titles[1:]:
        page.keyboard.press("j")
        expect(panel).to_contain_text(title)
    director.finds_no_barrier()

    page.keyboard.press("x")
    page.keyboard.press("k")
    page.keyboard.press("x")
    bar = page.locator("form.bulk")
    expect(bar.locator("[data-bulk-count]")).to_have_text("2")
    page.keyboard.press("Shift+A")
    page.wait_for_url(re.compile(r"/approvals/bulk/approve\?ids="))
    for title in titles[1:]:
        expect(page.locator("main")).to_contain_text(title)
    director.finds_no_barrier()

    page.get_by_role("link", name="Cancel").or_(page.get_by_role("link", name="To the queue")).first.click()
    expect(rows.first.locator("a[data-open]")).to_have_attribute("title", titles[0])


def test_the_keys_of_the_panel_do_not_type_into_a_comment(visitor: Callable[[str], Visitor]) -> None:
    director = visitor("director")
    page = director.page
    director.goes_to("/approvals")
    field = page.locator("#peek textarea")
    field.fill("")
    field.press_sequentially("a, r and c are letters")
    expect(field).to_have_value("a, r and c are letters")
    expect(page).to_have_url(re.compile(r"/approvals$"))
