"""An off-boarding as pages show it, before and after: by room, each line in words with what it names."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import translation

from accounts.audit_lines import subject_url
from accounts.models import Offboarding, Person
from accounts.offboarding.steps import WORD, Item, Line, line_words, room_words, steps

MOST_BEFORE = 10
"""So many names of a line are shown before the act; its report has all."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """``url`` is empty for what has no page of its own."""

    name: str
    note: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownLine:
    """``more``: how many names are left out."""

    words: str
    count: int | None
    items: list[ShownItem]
    more: int


@dataclass(frozen=True, slots=True)
class ShownRoom:
    title: str
    lines: list[ShownLine]


def preview_of(person: Person) -> list[ShownRoom]:
    """What would end, be handed over or stay if the person went now."""
    found = ((step.room, step.preview(person)) for step in steps())
    return [_room(room, lines, MOST_BEFORE) for room, lines in found if lines]


def rooms_of(report: Offboarding) -> list[ShownRoom]:
    """The report, by rooms in its own order."""
    rooms: dict[str, list[Line]] = {}
    for row in report.lines:
        line = Line(row["what"], [Item(**item) for item in row["items"]], row["count"])
        rooms.setdefault(row["room"], []).append(line)
    return [_room(room, lines, None) for room, lines in rooms.items()]


def _room(room: str, lines: Iterable[Line], most: int | None) -> ShownRoom:
    return ShownRoom(room_words(room), [_line(room, line, most) for line in lines])


def _item(item: Item) -> ShownItem:
    name = translation.gettext(item.name) if item.kind == WORD else item.name
    return ShownItem(name, item.note, subject_url(item.kind, str(item.pk or "")))


def _line(room: str, line: Line, most: int | None) -> ShownLine:
    items = [_item(item) for item in line.items[:most]]
    return ShownLine(line_words(room, line.what), line.count, items, len(line.items) - len(items))
