"""Markup in any text that a person, a node or a job can write is shown as text on every page, and runs on none."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from portal.tests.api import hostile
from portal.tests.permissions.rows import ALL
from portal.tests.permissions.table import Row
from portal.tests.permissions.world import World

pytestmark = pytest.mark.django_db

PROBES = {"/livez", "/readyz", "/metrics"}
PAGES = [row for row in ALL if row.method == "GET" and not row.is_api and row.path not in PROBES]
PAGES = [row for row in PAGES if not row.is_stream and not row.path.startswith("/agent/")]
MUST_BE_SHOWN = (
    *("name-lead", "projectname-active", "projectname-draft", "goal", "dataset", "milestone", "areatitle"),
    *("typedname", "typedgoal", "typeddatasets", "typeddue_on", "typedtarget", "typedperson"),
    *("pooltitle", "poolpurpose", "grantreason", "tierreason", "suspendreason", "tokenname", "reportedmodel"),
    *("viewname", "policyreason"),
    *("newstitle", "newstext", "worktitle", "worktext"),
    *("roleword", "rolegiver", "mailerror"),
    *("evidence", "confirmreason", "offboardreason", "gonetoken", "question", "answer"),
    *("approvalcomment", "standinreason", "rulename", "rulereason", "reviewnote"),
    "requestreason",
    *("jobname-running", "jobname-ended", "command", "variable", "exitmessage"),
)
"""Texts that some page shows; the others are kept for the record only, or are shown by later rooms."""


@pytest.fixture(scope="module")
def pages(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, str]]:
    """Every page and partial as the admin and as the lead read it, by its address."""
    with django_db_blocker.unblock(), transaction.atomic():
        people, ids = hostile.build()
        here = World(people, ids, {})
        here.prepare(PAGES)
        yield {f"{row.path} as {caller}": text for row in pages_of(ids) for caller, text in read(here, row)}
        transaction.set_rollback(True)


def pages_of(ids: dict[str, object]) -> Iterator[Row]:
    """Each row, and each page about a job also for the one that has ended."""
    for row in PAGES:
        yield row
        if "{job}" in row.path:
            for other in ("ended", "paused", "cancelled"):
                yield Row(row.method, row.path.replace("{job}", f"{{{other}}}"), row.expected, query=row.query)


def read(here: World, row: Row) -> Iterator[tuple[str, str]]:
    for caller in ("admin", "lead"):
        answer = here.call(row, caller)
        assert answer.status_code < 500, row.path
        if answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming:
            yield caller, answer.content.decode()


def test_no_page_lets_markup_through(pages: dict[str, str]) -> None:
    through = [address for address, text in pages.items() if "<script>alert(" in text or "<img src=x" in text]
    assert len(pages) > 80
    assert through == []


def test_no_attribute_is_left(pages: dict[str, str]) -> None:
    """A quotation mark of a text inside of an attribute is written as an entity."""
    assert [address for address, text in pages.items() if '"><script' in text or 'onerror="alert(2)"' in text] == []


@pytest.mark.parametrize("field", MUST_BE_SHOWN)
def test_the_text_is_shown_as_text(field: str, pages: dict[str, str]) -> None:
    shown = f"{field}&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
    assert any(shown in text for text in pages.values()), f"no page shows {field}"
