"""XLSX: the first sheet, as text. Nothing is evaluated: a formula is refused by name, whatever it last showed.

The file is an archive that somebody sent: its parts are counted and measured before anything is unpacked, and rows and
columns are bounded while they are read, whatever the file says of its own size.
"""

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any
from xml.etree.ElementTree import ParseError

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from kernel.spreadsheet import from_xlsx, unsafe
from projects.imports.archive import require_bounded
from projects.imports.limits import LAST_ROW, MOST_CHARACTERS, MOST_COLUMNS, MOST_ROWS
from projects.imports.sheet import Cell, CellFault, FileRefused, Sheet, SheetRow, sheet_of, too_many_rows

_UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    InvalidFileException,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    OSError,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
)
"""What the reader raises, one or another, for an archive that is no workbook."""


def read_xlsx(raw: bytes) -> Sheet:
    """Raises ``FileRefused``."""
    try:
        require_bounded(raw)
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=False, keep_links=False)
        try:
            if not book.worksheets:
                raise FileRefused(_("The workbook has no sheet."))
            return sheet_of(list(_rows(book.worksheets[0])))
        finally:
            book.close()
    except FileRefused:
        raise
    except _UNREADABLE as error:
        raise FileRefused(_("The file is no XLSX workbook, or is damaged. Save it again, or as CSV UTF-8.")) from error


def _rows(sheet: Any) -> Iterator[SheetRow]:
    """Rows that hold something. Empty cells at the end are left out."""
    # What a file says of its own size is not believed: rows beyond it would be dropped unseen.
    sheet.reset_dimensions()
    filled, before = 0, None
    # A shared text may stand in a million cells: it is looked at once.
    known: dict[str, Cell] = {}
    for line, cells in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS + 1), 1):
        if line > LAST_ROW:
            raise FileRefused(_("The sheet says that it has more rows than a sheet can have."))
        if cells is before:
            continue  # The reader's one row for all that are not there.
        before = cells
        texts = [_cell(cell, known) for cell in cells]
        while texts and texts[-1] == "":
            texts.pop()
        if texts:
            filled += 1
            yield SheetRow(line, texts)
        if filled > MOST_ROWS + 1:
            raise too_many_rows(filled - 1)


def _cell(cell: Any, known: dict[str, Cell]) -> Cell:
    value, kind = cell.value, getattr(cell, "data_type", "n")
    if value is None:
        return ""
    if kind == "f":
        return CellFault(str(value)[:60], _("A formula is not imported: put its value in the cell."))
    if kind == "e":
        return CellFault(str(value)[:60], _("The cell shows an error."))
    if isinstance(value, str):
        if value not in known:
            known[value] = _text(from_xlsx(value))
        return known[value]
    return _plain(value)


def _text(text: str) -> Cell:
    if len(text) > MOST_CHARACTERS:
        why = _("%(count)s characters; at most %(most)s are allowed.") % {"count": len(text), "most": MOST_CHARACTERS}
        return CellFault(text[:60], why)
    return unsafe(text)


def _plain(value: Any) -> str:
    """Numbers, days and truth values as one would write them into a CSV."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time(0) else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)
