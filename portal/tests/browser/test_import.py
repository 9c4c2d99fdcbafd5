"""Import a faulty file, read why, mend it, import it; then take it back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
HEAD = "name,goal,stage,h100 min,h100 target,h100 max,milestones\n"
GOOD = 'Imported speech,Translate speech,Training,1,2,4,"2035-03-01 First result\n2035-06-01 Second"\n'
FAULTY = f"{HEAD}{GOOD}进口项目,降低成本,nowhere,1,2,4,03/04/2035 Ready\n"
MENDED = f"{HEAD}{GOOD}进口项目,降低成本,训练,1,2,4,2035-04-03 Ready\n"
WORK_MS = 60_000


def test_a_faulty_file_is_mended_and_imported(visitor: Callable[[str], Visitor]) -> None:
    lead = visitor("lead")
    page = lead.page
    lead.goes_to("/projects/")
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_role("heading", name="Import projects").wait_for()
    lead.finds_no_barrier()
    uploads(page, FAULTY)
    rows = page.locator("#import-rows tbody tr")
    expect(rows.first).to_contain_text("“nowhere” is not one of: exploration", timeout=WORK_MS)
    expect(rows.first).to_contain_text("“03/04/2035” is no day that can be meant in one way only")
    expect(rows.nth(1)).to_contain_text("Imported speech")
    lead.finds_no_barrier()
    page.get_by_role("link", name="Upload a corrected file").click()
    uploads(page, MENDED)
    page.get_by_role("button", name="Import 2 projects").click(timeout=WORK_MS)
    expect(page.get_by_text("Imported: 2 new, 0 changed.")).to_be_visible(timeout=WORK_MS)
    lead.finds_no_barrier()
    project = page.get_by_role("link", name="进口项目").get_attribute("href")
    lead.goes_to(str(project))
    expect(page.locator(".title-line .state-word")).to_have_text("Draft")
    takes_back(lead)


def uploads(page: Page, text: str) -> None:
    file = {"name": "projects.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_label("File", exact=True).set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload and check").click()
    page.wait_for_url(re.compile(r"/projects/import/\d+/?$"))


def takes_back(lead: Visitor) -> None:
    page = lead.page
    lead.goes_to("/projects/import")
    page.get_by_role("row").filter(has_text="Imported").get_by_role("link").first.click()
    page.get_by_role("link", name="Discard what was imported").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Discard 2 imported projects?")
    lead.finds_no_barrier()
    dialog.get_by_role("button", name="Discard what was imported").click()
    expect(page.get_by_text("What was imported is closed again.")).to_be_visible(timeout=WORK_MS)
    lead.finds_no_barrier()
