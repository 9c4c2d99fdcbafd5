"""A registration is begun in one browser, gone on with in another, sent, asked about, answered and sent again."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from portal.tests.browser.conftest import WAIT_MS, Demo, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
NAME = "Registered in two places 双地"
PHONE: ViewportSize = {"width": 390, "height": 844}


def test_begun_here_and_gone_on_with_there(visitor: Callable[[str], Visitor]) -> None:
    desk, phone, admin = visitor("lead"), visitor("lead"), visitor("admin")
    phone.page.set_viewport_size(PHONE)
    begins(desk)
    goes_on(phone)
    is_told(desk)
    address = submits(phone)
    asks(admin, address)
    answers(desk, address)


def begins(desk: Visitor) -> None:
    """What is typed is saved, what it means stands beside it, and leaving asks nothing."""
    page = desk.page
    desk.goes_to("/projects/new/")
    expect(page.locator("#form-missing")).to_have_text("6 things missing")
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("Goal").fill("Show that <b>nothing</b> is lost")
    row = page.locator("[data-row-set=compute] [data-row]").first
    row.locator("select").select_option("h100")
    row.locator("input[name$='-target']").fill("2")
    side = page.locator("#consequence")
    expect(side).to_contain_text("usable are free to promise")
    expect(side).to_contain_text("Your target of 2")
    expect(page.locator("#form-missing")).to_have_text("3 things missing")
    page.get_by_role("button", name="Add a model").click()
    page.locator("#id_compute-1-target").fill("7")
    saved(page)
    desk.finds_no_barrier()


def goes_on(phone: Visitor) -> None:
    """On another machine everything is there as it was typed, the half row too."""
    page = phone.page
    phone.goes_to("/projects/new/")
    row = page.get_by_role("listitem").filter(has_text=NAME)
    row.get_by_role("link", name="Go on").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(NAME)
    expect(page.get_by_label("Goal")).to_have_value("Show that <b>nothing</b> is lost")
    expect(page.locator("#id_compute-1-target")).to_have_value("7")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-row-set=compute] [data-row]").nth(1).get_by_role("button", name="Remove this row").click()
    page.get_by_label("Stage").select_option("training")
    saved(page)
    phone.finds_no_barrier()


def is_told(desk: Visitor) -> None:
    """The first browser learns of it before it overwrites anything, and loads what was typed there."""
    page = desk.page
    page.get_by_label("Goal").fill("Overwritten?")
    told = page.locator("[data-autosave-conflict]")
    expect(told).to_contain_text("continued on another page or machine")
    # The refusal of the save is an answer of the server like any other; the console names it.
    desk.faults.clear()
    desk.finds_no_barrier()
    told.get_by_role("link", name="Load what was typed there").click()
    expect(page.get_by_label("Stage")).to_have_value("training")
    expect(page.get_by_label("Goal")).to_have_value("Show that <b>nothing</b> is lost")


def submits(phone: Visitor) -> str:
    """What is missing is a link to its field; all faults come at once; then it is sent."""
    page = phone.page
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-faults]")).to_contain_text("2 fields to correct")
    phone.faults.clear()
    phone.finds_no_barrier()
    page.locator("#form-progress").get_by_role("link", name="Breakthrough potential").click()
    expect(page.get_by_label("Breakthrough potential")).to_be_focused()
    page.keyboard.type("6")
    milestone = page.locator("[data-row-set=milestones] [data-row]").first
    milestone.locator("input[name$='-name']").fill("First result")
    milestone.locator("input[name$='-due_on']").fill("2035-01-31")
    expect(page.locator("#form-missing")).to_have_text("nothing missing")
    page.get_by_label("Person", exact=True).fill("resear")
    expect(page.locator("#people-found option[value=researcher]")).to_have_count(1)
    page.get_by_label("Person", exact=True).fill("researcher")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page).to_have_url(re.compile(r"/projects/\d+/?$"))
    expect(page.locator(".title-line .state-word")).to_have_text("Submitted")
    address = page.url
    phone.goes_to("/projects/new/")
    expect(page.get_by_text(NAME)).to_have_count(0)
    return address


def asks(admin: Visitor, address: str) -> None:
    page = admin.page
    admin.goes_to(f"{address.rstrip('/')}/decide")
    page.get_by_label("Comment, kept with the decision").fill("Why an H100 and not an A100?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".title-line .state-word")).to_contain_text("Asked back")


def answers(desk: Visitor, address: str) -> None:
    """The question stands first on the form; without an answer it is not sent again."""
    page = desk.page
    desk.goes_to(f"{address.rstrip('/')}/edit")
    expect(page.locator("#question")).to_contain_text("Why an H100 and not an A100?")
    page.get_by_role("button", name="Submit again").click()
    expect(page.locator("#question .errorlist")).to_contain_text("Answer the question")
    desk.faults.clear()
    page.get_by_label("Your answer").fill("Its memory is too small")
    saved(page)
    desk.finds_no_barrier()
    page.get_by_role("button", name="Submit again").click()
    expect(page).to_have_url(re.compile(r"/projects/\d+/?$"))
    expect(page.locator(".title-line .state-word")).to_have_text("Submitted")


def saved(page: Page) -> None:
    """What stands in the form now is what the server has: it says so after the last change."""
    status = page.locator("[data-autosave-status]")
    expect(status).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    expect(page.locator("form[data-autosave][data-unsaved]")).to_have_count(0)


def test_without_a_script_the_plain_way_works(demo: Demo, browser: Browser) -> None:
    context = browser.new_context(base_url=demo.address, java_script_enabled=False)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("User name").fill("researcher")
    page.get_by_label("Password").fill(demo.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.goto("/projects/new/")
    page.get_by_label("Name", exact=True).fill("Registered without a script")
    page.locator("#id_compute-0-gpu_model").select_option("h100")
    page.locator("#id_compute-0-target").fill("1.5")
    with context.expect_page() as opened:
        page.get_by_role("button", name="Check").click()
    expect(opened.value.get_by_role("heading", name="What your registration asks for")).to_be_visible()
    expect(opened.value.locator("#form-progress")).to_contain_text("Breakthrough potential")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-faults]")).to_contain_text("fields to correct")
    # Left and come back to: what was refused is kept.
    page.goto("/projects/new/")
    page.get_by_role("listitem").filter(has_text="Registered without a script").get_by_role(
        "link", name="Go on"
    ).click()
    page.locator("#id_compute-0-target").fill("2")
    page.get_by_role("button", name="Keep as a draft").click()
    expect(page.locator(".title-line .state-word")).to_have_text("Draft")
    context.close()
