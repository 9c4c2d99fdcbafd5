"""What the content-security policy and the house ask of every template and script file."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
SPRITE = set(re.findall(r'<symbol id="([\w-]+)"', (ROOT / "static" / "icons.svg").read_text()))
LOOKS = (ROOT / "kernel" / "looks.py").read_text()


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_a_template_compiles(path: Path) -> None:
    get_template(str(path.relative_to(ROOT / "templates")))


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_no_inline_script_or_style(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style\b", text)
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text)
    assert not re.search(r"\shx-on\b|javascript:", text)


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_nothing_comes_from_another_host(path: Path) -> None:
    assert not re.search(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//", path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_every_icon_is_drawn(path: Path) -> None:
    used = set(re.findall(r'{%\s*icon\s+"([\w-]+)"', path.read_text()))
    assert used <= SPRITE


def test_the_icons_of_states_and_rooms_are_drawn() -> None:
    used = set(re.findall(r'Look\("([\w-]+)"', LOOKS))
    used |= set(
        re.findall(r'Room\("[\w:-]+", _\("[^"]+"\), "([\w-]+)"', (ROOT / "portal" / "navigation.py").read_text())
    )
    assert used
    assert used <= SPRITE


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_never_evaluates_text(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\beval\(|new Function\(|document\.write|setAttribute\([\"']style", text)
