"""From a registration to measured GPU-hours, by three people, in real browsers on a real instance."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
SCRIPT = 'for i in $(seq 1 8); do echo "step $i of 8"; sleep 1; done\necho finished'
START_MS, RUN_MS = 30_000, 60_000


def test_a_project_is_registered_approved_granted_and_used(visitor: Callable[[str], Visitor]) -> None:
    lead, admin, researcher = visitor("lead"), visitor("admin"), visitor("researcher")
    address = registers(lead)
    decides(admin, address)
    grants(admin, address)
    job = submits(researcher, address)
    watches(researcher, job)
    sees_hours(researcher, address)
    looks_around(lead, admin, address)


def registers(lead: Visitor) -> str:
    """The lead registers a project, submits it and puts the researcher on the team."""
    page = lead.page
    lead.goes_to("/projects/new/")
    lead.finds_no_barrier()
    page.get_by_label("Name", exact=True).fill("Browser-made project")
    page.get_by_label("Goal").fill("Show that the main way works")
    page.get_by_label("Stage").select_option("training")
    page.get_by_label("Breakthrough potential").fill("6")
    row = page.locator("[data-row-set=compute] [data-row]").first
    row.locator("select").select_option("h100")
    for name, value in (("min", "0"), ("target", "1"), ("max", "2")):
        row.locator(f"input[name$='-{name}']").fill(value)
    milestone = page.locator("[data-row-set=milestones] [data-row]").first
    milestone.locator("input[name$='-name']").fill("First result")
    milestone.locator("input[name$='-due_on']").fill("2035-01-31")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile(r"/projects/\d+/?$"))
    expect(page.locator(".title-line .state-word")).to_have_text("Submitted")
    address = page.url
    page.goto(f"{address.rstrip('/')}/members/")
    page.get_by_label("User name").fill("researcher")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="Rui Researcher")).to_be_visible()
    return address


def decides(admin: Visitor, address: str) -> None:
    """The admin finds it on the home page among the latest, which are folded, approves it and sets its tier."""
    page = admin.page
    admin.goes_to("/")
    own = page.get_by_role("listitem").filter(has_text="Browser-made project")
    page.locator("details.fold-rows").filter(has_text="Browser-made project").locator("summary").click()
    own.get_by_role("link", name="Decide").click()
    admin.finds_no_barrier()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".title-line .state-word")).to_contain_text("Approved", ignore_case=True)
    admin.goes_to(address)
    expect(page.locator(".title-line .state-word")).to_have_text("Active")
    page.get_by_role("link", name="Set tier").click()
    dialog = page.locator("#confirm-dialog")
    dialog.locator("select[name=tier]").select_option("high")
    dialog.locator("textarea[name=reason]").fill("The test says so")
    dialog.get_by_role("button", name="Set tier").click()
    expect(page.locator(".facts .tier")).to_have_text("High tier")
    assert page.url.rstrip("/") == address.rstrip("/")


def grants(admin: Visitor, address: str) -> None:
    """The admin grants one H100, seeing what is free beside the form."""
    page = admin.page
    project = address.rstrip("/").rsplit("/", 1)[1]
    admin.goes_to(f"/quotas/grant/?project={project}")
    page.get_by_label("Project", exact=True).select_option(project)
    page.get_by_label("GPU model").select_option(label="H100")
    page.get_by_label("Guaranteed").fill("1")
    page.get_by_label("Limit").fill("2")
    page.get_by_label("Reason").fill("For the browser test")
    expect(page.locator("#consequence .hero")).to_contain_text("free")
    admin.finds_no_barrier()
    page.get_by_role("button", name="Grant", exact=True).click()
    page.wait_for_url(lambda url: "/grant" not in url)
    admin.goes_to(address)
    expect(page.get_by_role("region", name="Allotment").get_by_role("row").filter(has_text="h100")).to_contain_text("1")


def submits(researcher: Visitor, address: str) -> str:
    """The researcher fills in the form, reads the launch check and submits."""
    page = researcher.page
    researcher.goes_to(address)
    page.get_by_role("link", name="New job").click()
    page.wait_for_url(re.compile(r"/jobs/new/?\?"))
    expect(page.get_by_label("Project", exact=True)).to_have_value(address.rstrip("/").rsplit("/", 1)[1])
    check = page.get_by_role("complementary", name="Launch check")
    expect(check).to_contain_text("Still to fill in: Name, Command.")
    page.get_by_label("Name", exact=True).fill("count-to-eight")
    page.get_by_label("Command").fill(SCRIPT)
    page.get_by_label("GPUs", exact=True).fill("1")
    page.get_by_label("H100").check()
    expect(check).to_contain_text("The project has a quota that covers this job.")
    expect(check).to_contain_text("bash")
    researcher.finds_no_barrier()
    page.get_by_role("button", name="Submit job").click()
    page.wait_for_url(re.compile(r"/jobs/\d+/?$"))
    return page.url


def watches(researcher: Visitor, job: str) -> None:
    """It starts, its log appears line by line, it ends; the page follows without being reloaded by hand."""
    page = researcher.page
    expect(page.locator("[data-job-state=running]")).to_be_visible(timeout=START_MS)
    log = page.locator("[data-log-text]")
    expect(log).to_contain_text("step 2 of 8", timeout=START_MS)
    assert "finished" not in str(log.text_content())
    researcher.finds_no_barrier()
    expect(page.locator("[data-job-state=succeeded]")).to_be_visible(timeout=RUN_MS)
    expect(log).to_contain_text("step 8 of 8\nfinished", timeout=START_MS)
    expect(page.locator("[data-log-state]")).to_have_text("complete", timeout=START_MS)
    expect(page.locator("#job-badge")).to_have_text("Succeeded")
    attempts = page.locator("#job-attempts")
    expect(attempts.get_by_role("row").filter(has_text="Finished")).to_contain_text("local-1 (1 GPU)")
    assert page.url == job
    assert str(log.text_content()).count("step 1 of 8") == 1
    researcher.finds_no_barrier()


def sees_hours(researcher: Visitor, address: str) -> None:
    """The project's cost counts the GPU time of the job."""
    page = researcher.page
    researcher.goes_to(f"{address.rstrip('/')}/cost")
    hours = page.locator("section").filter(has=page.get_by_role("heading", name="GPU-hours", exact=True))
    words = str(hours.locator(".help").text_content())
    counted = re.match(r"(?:<\s)?([0-9.]+) in 14 days", words)
    assert counted, words
    assert 0 < float(counted[1]) < 1
    expect(hours.get_by_role("img")).to_have_attribute("aria-label", re.compile("GPU-hours per day"))
    researcher.finds_no_barrier()


def looks_around(lead: Visitor, admin: Visitor, address: str) -> None:
    """The other pages of the way have no barrier either, in both themes."""
    for theme in ("light", "dark"):
        for visitor, paths in (
            (lead, ("/", "/jobs/?owner=all", address)),
            (admin, ("/", "/cluster/", "/cluster/nodes/1")),
        ):
            visitor.page.emulate_media(color_scheme=theme)
            for path in paths:
                visitor.goes_to(path)
                visitor.finds_no_barrier()


def test_stopping_a_job_asks_once_and_names_it(visitor: Callable[[str], Visitor]) -> None:
    researcher = visitor("researcher")
    page = researcher.page
    researcher.goes_to("/jobs/new/")
    page.get_by_label("Project", exact=True).select_option(label="Long-context pretraining")
    page.get_by_label("Name", exact=True).fill("sleeper")
    page.get_by_label("Command").fill("sleep 600")
    page.get_by_role("button", name="Submit job").click()
    page.wait_for_url(re.compile(r"/jobs/\d+/?$"))
    expect(page.locator("[data-job-state=running]")).to_be_visible(timeout=START_MS)
    dialog = opened_stop(page)
    expect(dialog).to_contain_text("1 GPU on local-")
    researcher.finds_no_barrier()
    dialog.get_by_role("link", name="Cancel").click()
    expect(page.locator("[data-job-state=running]")).to_be_visible()
    opened_stop(page).get_by_role("button", name="Stop the job").click()
    expect(page.locator("[data-job-state=cancelled]")).to_be_visible(timeout=RUN_MS)
    expect(page.get_by_role("link", name="Requeue")).to_be_visible()


def opened_stop(page: Page) -> Locator:
    page.get_by_role("link", name="Stop…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop the job “sleeper”?")
    return dialog
