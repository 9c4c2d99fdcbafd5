"""A language in which every message of ours stands in brackets: what stands outside never went through gettext."""

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.test import override_settings

from portal.catalogue.extract import extract
from portal.management.commands.update_catalogue import ROOMS

CODE, LOCALE = "en-gb", "en_GB"
OPEN, CLOSE = "⟦", "⟧"
# Attributes that people read or hear. A value of a button is sent, not shown.
SHOWN = ("title", "aria-label", "placeholder", "alt", "data-empty", "data-error", "data-stale-word")
_SILENT = frozenset({"script", "style", "template"})
_DATES = "date format"


@contextmanager
def spoken(folder: Path) -> Iterator[None]:
    """Inside, British English is that language: one that Django knows, with a catalogue made from today's code."""
    catalogue = Catalog(locale=None, domain="django")
    for message in extract(settings.BASE_DIR, ROOMS):
        ids = (message.singular, message.plural) if message.plural else message.singular
        texts = tuple(map(bracketed, ids)) if isinstance(ids, tuple) else bracketed(ids)
        is_pattern = message.context == _DATES
        catalogue.add(ids, str(ids) if is_pattern else texts, context=message.context or None)
    target = folder / LOCALE / "LC_MESSAGES" / "django.mo"
    target.parent.mkdir(parents=True)
    with target.open("wb") as file:
        write_mo(file, catalogue)
    with override_settings(LOCALE_PATHS=[folder], LANGUAGES=[*settings.LANGUAGES, (CODE, "Pseudo")]):
        yield


def bracketed(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}"


class Texts(HTMLParser):
    """The texts of a page: of its elements, and of attributes that are shown or read aloud."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._silent = 0
        self._parts: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name in SHOWN and value]
        self._silent += tag in _SILENT

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data)

    def close(self) -> None:
        super().close()
        self.found.append("".join(self._parts))


def outside(page: str) -> list[str]:
    """What a page says outside of any message: brackets are counted, because a message may hold another."""
    reader = Texts()
    reader.feed(page)
    reader.close()
    said = []
    for text in reader.found:
        depth, rest = 0, []
        for character in text:
            depth += character == OPEN
            rest.append(character if depth == 0 else " ")
            depth -= character == CLOSE
        said += "".join(rest).split("\n")
    return [text.strip() for text in said if any(letter.isalpha() for letter in text)]
