"""Every text of every page goes through gettext, and every message is in a catalogue.

The pages are rendered in a language in which each message stands in brackets. What stands outside of them must be in
``allowed.toml``: data, names, signs.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from portal.tests.api import hostile
from portal.tests.api.test_hostile_text import PAGES, pages_of
from portal.tests.languages import pseudo
from portal.tests.permissions.table import Row
from portal.tests.permissions.world import World

pytestmark = pytest.mark.django_db

NOT_OURS = ("/audit", "/design", "/api/", "/projects/import/{")
"""The audit log shows fields by the names under which they were recorded, an import's report what was written when the
file was checked; the others are for programmers."""
KEPT = "/check"
"""A job's launch check is kept in English."""
ALLOWED = tomllib.loads((Path(__file__).parent / "allowed.toml").read_text())
WHOLE = {word for group, words in ALLOWED.items() if group != "patterns" for word in words}
PATTERN = re.compile("|".join(f"(?:{text})" for text in ALLOWED["patterns"]))
WRITTEN = re.compile(r"[\w-]*" + re.escape(hostile.SCRIPT[:8]) + r"[^\s…]*(?: src=x)?(?: onerror=\"alert\(\d\)\">)?…?")
WORD = re.compile(r"[^\W\d_]\S*")


@pytest.fixture(scope="module")
def said(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[dict[str, set[str]]]:
    """What pages say outside of messages, by text: on which pages."""
    folder = tmp_path_factory.mktemp("locale")
    with django_db_blocker.unblock(), pseudo.spoken(folder), transaction.atomic():
        people, ids = hostile.build()
        here = World(people, ids, {})
        here.prepare(PAGES)
        found: dict[str, set[str]] = {}
        with override_settings(LANGUAGE_CODE=pseudo.CODE):
            for row in pages_of(ids):
                for caller in ("admin", "lead") if is_ours(row) else ():
                    for text in texts(here, row, caller):
                        found.setdefault(text, set()).add(f"{row.path} as {caller}")
        yield found
        transaction.set_rollback(True)


def is_ours(row: Row) -> bool:
    return not row.path.startswith(NOT_OURS) and not row.path.endswith(KEPT)


def texts(here: World, row: Row, caller: str) -> list[str]:
    answer = here.call(row, caller)
    is_page = answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming
    return pseudo.outside(answer.content.decode()) if is_page else []


def foreign(text: str) -> str:
    """What of a text is neither data nor allowed."""
    rest = PATTERN.sub(" ", WRITTEN.sub(" ", text))
    words = [word.strip("()[]{}·,;:–→/#=“”\"'…") for word in re.split(r"[\s,·\u202f]+", rest)]
    return " ".join(word for word in words if word not in WHOLE and re.search(r"[^\W\d_]{2}", word))


def test_no_page_says_anything_outside_of_a_message(said: dict[str, set[str]]) -> None:
    assert len(said) > 20
    wrong = [f"{left[:200]!r} on {min(pages)}" for text, pages in said.items() if (left := foreign(text))]
    assert not wrong, "\n" + "\n".join(sorted(wrong))
