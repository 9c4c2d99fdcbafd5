"""Text in the cells of a spreadsheet: what is written is never taken for a formula, and is read back as it was."""

import re

from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CSV = "text/csv; charset=utf-8"
_RISKY = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
"""What makes a spreadsheet read a text as a formula; in Chinese and Japanese the full-width signs too."""
_MARK = "'"
_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")
"""What spreadsheet programs escape: control characters, and the line before what would look like such an escape."""


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


def _is_risky(text: str) -> bool:
    return text.lstrip(" \n").startswith(_RISKY) or text.startswith(("\t", "\r"))
