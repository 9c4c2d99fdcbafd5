"""A quota request from its form to the grant, by lead, admin, director and the one who stands in for the director."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from portal.demo.names import SHOWCASE
from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_request_is_asked_lessened_passed_on_and_granted(visitor: Callable[[str], Visitor]) -> None:
    lead, admin, director = visitor("lead"), visitor("admin"), visitor("director")
    asks(lead)
    address = lessens(admin)
    names_a_stand_in(director)
    stands_in(visitor("stranger"), address)
    reads_the_answer(lead)


def asks(lead: Visitor) -> None:
    """For forty more of a model that has fewer free: the consequence says so before it is sent."""
    page = lead.page
    lead.goes_to("/projects")
    page.get_by_role("link", name=SHOWCASE).first.click()
    page.wait_for_url(re.compile(r"/projects/\d+$"))
    lead.goes_to(f"/projects/{page.url.rsplit('/', 1)[1]}/request?model=a800")
    page.get_by_label("Guaranteed, more", exact=True).fill("40")
    page.get_by_label("Reason").fill("Two runs side by side until the milestone")
    side = page.locator("#consequence")
    expect(side).to_contain_text("Director")
    lead.finds_no_barrier()
    page.get_by_role("button", name="Send request").click()
    page.wait_for_url(re.compile(r"/(approvals|quota-requests)/\d+"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(SHOWCASE)


def lessens(admin: Visitor) -> str:
    """The admin finds it in the queue with the keyboard, and passes on less than was asked."""
    page = admin.page
    admin.goes_to("/approvals")
    admin.finds_no_barrier()
    row = page.get_by_role("row").filter(has_text=SHOWCASE).filter(has_text="A800")
    row.get_by_role("link").first.click()
    page.wait_for_url(re.compile(r"/approvals/\d+$"))
    address = page.url
    admin.finds_no_barrier()
    page.get_by_role("link", name=re.compile(r"Approve (less|\d+ instead)…")).click()
    dialog = page.locator("#confirm-dialog")
    dialog.get_by_label("Guaranteed").fill("8")
    dialog.get_by_role("button", name=re.compile("^Approve")).click()
    expect(page.locator("main")).to_contain_text("Alex Admin")
    return address


def names_a_stand_in(director: Visitor) -> None:
    page = director.page
    director.goes_to("/approvals/delegations")
    page.get_by_label("Who stands in").fill("stranger")
    page.get_by_label("Reason").fill("In a review")
    page.get_by_role("button", name="Name", exact=True).click()
    expect(page.locator("main")).to_contain_text("Sam Stranger")
    director.finds_no_barrier()


def stands_in(stranger: Visitor, address: str) -> None:
    """Somebody without any role sees what the director would decide, and nothing else of the project."""
    page = stranger.page
    stranger.goes_to("/approvals")
    row = page.get_by_role("row").filter(has_text=SHOWCASE).filter(has_text="A800")
    expect(row).to_contain_text("for Dana Director")
    page.goto(address)
    page.get_by_role("button", name=re.compile("^Approve")).click()
    expect(page.locator("main")).to_contain_text("Approved")
    stranger.finds_no_barrier()
    again = page.goto(address)
    assert again is not None
    assert again.status == 200
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)


def reads_the_answer(lead: Visitor) -> None:
    """The lead hears of it, and the project holds what was granted, for a time."""
    page = lead.page
    lead.goes_to("/inbox")
    lead.finds_no_barrier()
    page.get_by_role("link", name=re.compile("^Approved: ")).first.click()
    expect(page.locator("main")).to_contain_text("8")
    lead.goes_to("/quota-requests")
    row = page.get_by_role("row").filter(has_text=SHOWCASE).filter(has_text="A800")
    expect(row).to_contain_text("approved")
    lead.finds_no_barrier()
