"""The committed catalogues: reading, merging with what the code says, writing, and what is wrong with them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.pofile import read_po, write_po

from portal.catalogue.extract import Message

PLACEHOLDER = re.compile(r"%\(\w+\)[#0\- +]*\d*(?:\.\d+)?[a-zA-Z]|%%|%[sd]|\{\w+\}")
HEADER = "# Translations of Sluice. `./run manage update_catalogue` renews the messages; translate by hand.\n#"


def read(path: Path, locale: str) -> Catalog:
    """The committed catalogue, or an empty one."""
    if not path.is_file():
        return Catalog(locale=locale, domain="django", project="Sluice")
    with path.open("rb") as file:
        return read_po(file, locale=locale, domain="django")


def merged(catalogue: Catalog, messages: Iterable[Message]) -> Catalog:
    """The catalogue with exactly these messages: translations stay, what the code no longer says goes.

    A message whose English changed is a new one: a guessed translation would be wrong more often than missing.
    """
    result = Catalog(locale=catalogue.locale, domain="django", project="Sluice", fuzzy=False)
    result.header_comment = HEADER
    for message in messages:
        known = catalogue.get(message.singular, context=message.context or None)
        text = _kept(known, message, result.num_plurals)
        ids = (message.singular, message.plural) if message.plural else message.singular
        place = [(message.source, 1)] if message.source else []
        result.add(ids, text, locations=place, context=message.context or None)
    return result


def _kept(known: Entry | None, message: Message, forms: int) -> str | tuple[str, ...]:
    """The translation that is there, in as many forms as the message has now."""
    nothing = ("",) * forms if message.plural else ""
    if known is None or known.fuzzy or not known.string:
        return nothing
    is_plural = not isinstance(known.string, str)
    return known.string if is_plural == bool(message.plural) else nothing  # type: ignore[return-value]


def write(catalogue: Catalog, path: Path) -> None:
    """Sorted, without line numbers and dates: two branches that add messages seldom meet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, sort_output=True, include_lineno=False, ignore_obsolete=True, width=0)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    dated = ('"POT-Creation-Date:', '"PO-Revision-Date:', '"Generated-By:', '"Last-Translator:', '"Language-Team:')
    path.write_text("".join(line for line in lines if not line.startswith(dated)), encoding="utf-8")


def faults(catalogue: Catalog, messages: Iterable[Message]) -> Iterator[str]:
    """What keeps the catalogue from being committed: a message that it lacks or nobody says, a fuzzy or broken one."""
    said = {(message.context or None, message.singular) for message in messages}
    held = {(entry.context, _singular(entry)) for entry in catalogue if entry.id}
    for _context, singular in sorted(said - held, key=str):
        yield f"not in the catalogue: {singular!r}"
    for _context, singular in sorted(held - said, key=str):
        yield f"no longer said by the code: {singular!r}"
    for entry in catalogue:
        if entry.id:
            yield from _broken(entry)


def _broken(entry: Entry) -> Iterator[str]:
    if entry.fuzzy:
        yield f"fuzzy: {_singular(entry)!r}"
    # Of a plural message, the plural one names every value; a form may leave out the count alone.
    most = placeholders(entry.id if isinstance(entry.id, str) else entry.id[-1])
    for text in texts(entry):
        if text and placeholders(text) != most:
            yield f"placeholders differ: {_singular(entry)!r} → {text!r}"


def placeholders(text: str) -> list[str]:
    """The values that a text takes, sorted: ``%(name)s``, each as often as it stands there."""
    return sorted({match[0] for match in PLACEHOLDER.finditer(text)})


def untranslated(catalogue: Catalog) -> int:
    """How many messages are still shown in English."""
    return len([entry for entry in catalogue if entry.id and not any(texts(entry))])


def texts(entry: Entry) -> list[str]:
    """The translation, in each of its forms."""
    given = entry.string or ""
    return [given] if isinstance(given, str) else [str(text) for text in given]


def _singular(entry: Entry) -> str:
    return entry.id if isinstance(entry.id, str) else entry.id[0]
