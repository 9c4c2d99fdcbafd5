"""Files for spreadsheet programs. A text is never taken for a formula, and is read back as it was."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from io import BytesIO

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from kernel.calendar import organisation_zone

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CSV = "text/csv; charset=utf-8"
_RISKY = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
"""What makes a spreadsheet read a text as a formula; in Chinese and Japanese the full-width signs too."""
_MARK = "'"
_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")
"""What spreadsheet programs escape: control characters, and the line before what would look like such an escape."""

Cell = str | int | float | Decimal | datetime | None
"""Of a line that is written out. An instant becomes the organisation's wall clock: such a program knows no zones."""


def csv_of(lines: Iterable[Sequence[Cell]]) -> bytes:
    """UTF-8 with a byte order mark, without which Excel reads Chinese as noise."""
    written = (",".join(_quoted(_plain(cell)) for cell in line) for line in lines)
    return "\r\n".join([*written, ""]).encode("utf-8-sig")


def xlsx_of(lines: Iterable[Sequence[Cell]], title: str) -> bytes:
    """One sheet; its head and its first column stay in sight."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "B2"
    for line in lines:
        sheet.append([_plain(cell) for cell in line])
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def safe(text: str) -> str:
    """The text, that no spreadsheet takes for a formula and no file format refuses: with an apostrophe before it
    where it begins like one. A text that begins like such a mark gets one more, so that ``unsafe`` knows them."""
    clean = ILLEGAL_CHARACTERS_RE.sub("", text)
    return _MARK + clean if _is_risky(clean.lstrip(_MARK)) else clean


def unsafe(text: str) -> str:
    """What ``safe`` was given: exactly its mark is taken away again. Nothing is evaluated, here or later."""
    return text[1:] if text.startswith(_MARK) and _is_risky(text.lstrip(_MARK)) else text


def to_xlsx(text: str) -> str:
    """A text that looks like the file format's escape of a character, written so that it is read as it is."""
    return _ESCAPE.sub("_x005F_x", text)


def from_xlsx(text: str) -> str:
    """The file format's escapes of characters (``_x000D_``), which the reader leaves as they are in most places."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _plain(cell: Cell) -> Cell:
    if isinstance(cell, datetime):
        return cell.astimezone(organisation_zone()).replace(tzinfo=None, microsecond=0)
    return safe(cell) if isinstance(cell, str) else cell


def _quoted(cell: Cell) -> str:
    if cell is None:
        return ""
    text = cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)
    return '"' + text.replace('"', '""') + '"' if isinstance(cell, str) else text


def _is_risky(text: str) -> bool:
    return text.lstrip(" \n").startswith(_RISKY) or text.startswith(("\t", "\r"))
