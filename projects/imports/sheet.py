"""A file as rows of texts: what reading gives and checking takes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from kernel.errors import PortalError
from projects.imports.limits import MOST_COLUMNS, MOST_ROWS

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What no text of ours has: control characters beside tab and line break, and halves of surrogate pairs."""


class FileRefused(PortalError):
    """The file as a whole cannot be taken; the sentence says why and what helps."""

    code = "file_refused"
    status = 422


@dataclass(frozen=True, slots=True)
class CellFault:
    """A cell that holds no value which could be taken: what stands there, and why not."""

    shown: str
    why: str


Cell = str | CellFault


@dataclass(frozen=True, slots=True)
class SheetRow:
    """``line`` is the number that a spreadsheet program shows beside the row; the head is mostly 1."""

    line: int
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The first row that is not empty is the head. ``encoding`` and ``delimiter`` are empty for XLSX."""

    head: Sequence[Cell]
    rows: Sequence[SheetRow]
    encoding: str = ""
    delimiter: str = ""


def sheet_of(rows: Sequence[SheetRow], *, encoding: str = "", delimiter: str = "") -> Sheet:
    """Raises ``FileRefused`` for a file without rows, or with too many."""
    filled = [row for row in rows if any(isinstance(cell, CellFault) or cell.strip() for cell in row.cells)]
    if not filled:
        raise FileRefused(_("The file is empty. Its first row names the columns, each further row is a project."))
    head, *rest = filled
    if len(rest) > MOST_ROWS:
        raise too_many_rows(len(rest))
    if max(_width(row.cells) for row in filled) > MOST_COLUMNS:
        raise FileRefused(
            _("More than %(most)s columns. Leave out those that are not needed.") % {"most": MOST_COLUMNS}
        )
    if not rest:
        raise FileRefused(_("The file has a head and no row under it. Each further row is a project."))
    return Sheet(head.cells, rest, encoding, delimiter)


def printable(text: str) -> str:
    """The text as a report can hold and show it."""
    return CONTROL.sub("�", text)


def too_many_rows(count: int) -> FileRefused:
    text = _("%(count)s rows; at most %(most)s can be imported at once. Split the file.")
    return FileRefused(text % {"count": count, "most": MOST_ROWS})


def _width(cells: Sequence[Cell]) -> int:
    return max((place for place, cell in enumerate(cells, 1) if cell != ""), default=0)
