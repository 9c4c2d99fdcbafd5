"""The page of parts: it shows each part and quotes the very file that it shows."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings

from accounts.tests import factories as people
from kernel import looks
from portal.pages.design import FOLDER, PARTS

pytestmark = pytest.mark.django_db
PART_FILES = Path(settings.BASE_DIR) / "templates" / FOLDER


@pytest.fixture
def page() -> str:
    answer = people.browser(people.person()).get("/design")
    assert answer.status_code == 200
    return answer.content.decode()


def test_each_part_is_shown_and_quoted(page: str) -> None:
    quoted = [unescape(code) for code in re.findall(r"<pre [^>]*><code>(.*?)</code></pre>", page, flags=re.S)]
    written = [(PART_FILES / f"_{part.key}.html").read_text().rstrip("\n") for part in PARTS if part.is_quoted]
    assert quoted == written
    for part in PARTS:
        assert f'id="{part.key}"' in page


def test_no_part_lies_unused() -> None:
    assert {path.name for path in PART_FILES.glob("*.html")} == {f"_{part.key}.html" for part in PARTS}


def test_every_state_is_shown(page: str) -> None:
    for state in looks.known_states():
        assert f'<code class="help">{state}</code>' in page


def test_no_pair_of_colours_fails(page: str) -> None:
    colours = page[page.index('id="colours"') : page.index('id="type"')]
    assert colours.count("state-word") > 40
    assert "tone-bad" not in colours


def test_an_error_names_the_value_and_what_is_allowed(page: str) -> None:
    assert "28 is not a whole number of nodes. Use 24 or 32." in page
