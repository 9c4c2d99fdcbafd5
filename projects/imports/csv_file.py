"""CSV as programs write it: UTF-8 with and without a byte order mark, UTF-16, GB18030; commas, semicolons, tabs.

Encoding: a byte order mark decides; else what is valid UTF-8 is UTF-8; else it is GB18030, which Excel writes in
Chinese, if most of what is not ASCII are common Chinese characters. Delimiter: ``sep=;`` in the first line decides;
else the one with which the first row has the most columns that we know, then the most columns.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from django.utils.translation import gettext as _

from kernel.spreadsheet import unsafe
from projects.imports.limits import MOST_CHARACTERS, MOST_ROWS
from projects.imports.sheet import Cell, CellFault, FileRefused, Sheet, SheetRow, printable, sheet_of, too_many_rows

DELIMITERS = ",;\t"
ENOUGH_COMMON = 0.8
"""The share of common characters below which text in another encoding was only taken for Chinese."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SEPARATOR = re.compile(r"sep=(.)\r?\n")
_SIGNS, _LAST_SIGNS = 0xA1, 0xA3
_FIRST_LEVEL, _LAST_OF_FIRST_LEVEL = 0xB0, 0xD7
_SLACK = 1000
"""Empty rows beside those that count."""


def read_csv(raw: bytes, known: Callable[[Sequence[str]], int]) -> Sheet:
    """``known`` says how many of these heads are columns of ours. Raises ``FileRefused``."""
    text, encoding = decoded(raw)
    said = _SEPARATOR.match(text)
    if said is not None:
        text = text[said.end() :]
    delimiter = printable(said[1]) if said is not None else _delimiter(text, known)
    if delimiter not in DELIMITERS:
        raise FileRefused(
            _("The columns are separated by “%(sign)s”; use a comma, semicolon or tab.") % {"sign": delimiter}
        )
    first = 1 if said is None else 2
    return sheet_of(_rows(text, delimiter, first), encoding=encoding, delimiter=delimiter)


def decoded(raw: bytes) -> tuple[str, str]:
    """The text and the name of its encoding. Raises ``FileRefused`` for what is none of ours."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return _strictly(raw[len(mark) :], name), name
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return _chinese(raw), "gb18030"


def _strictly(raw: bytes, name: str) -> str:
    try:
        return raw.decode(name)
    except UnicodeDecodeError as error:
        text = _("The file says that it is %(encoding)s, but byte %(place)s does not fit. Save it again as CSV UTF-8.")
        raise FileRefused(text % {"encoding": name.upper(), "place": error.start}) from error


def _chinese(raw: bytes) -> str:
    try:
        text = raw.decode("gb18030")
    except UnicodeDecodeError:
        text = ""
    others = [character for character in text if not character.isascii()]
    common = sum(1 for character in others if _is_common(character))
    if not others or common < ENOUGH_COMMON * len(others):
        raise FileRefused(
            _("The file is neither UTF-8 nor UTF-16 nor GB18030. Save it as “CSV UTF-8” in Excel, elsewhere as UTF-8.")
        )
    return text


def _is_common(character: str) -> bool:
    """Of the first 3755 of GB 2312, or one of its signs. The rarer ones are what Cyrillic and accents look like."""
    try:
        lead = character.encode("gb2312")[0]
    except UnicodeEncodeError:
        return False
    return _SIGNS <= lead <= _LAST_SIGNS or _FIRST_LEVEL <= lead <= _LAST_OF_FIRST_LEVEL


def _delimiter(text: str, known: Callable[[Sequence[str]], int]) -> str:
    """The first row under each delimiter, judged; a comma where nothing speaks for another."""
    best, most = DELIMITERS[0], (-1, -1)
    for delimiter in DELIMITERS:
        head = _first_row(text, delimiter)
        weight = (known(head), len(head))
        if weight > most:
            best, most = delimiter, weight
    return best


def _first_row(text: str, delimiter: str) -> list[str]:
    try:
        return next((row for row in _reader(text, delimiter) if any(row)), [])
    except csv.Error:
        return []


def _reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _rows(text: str, delimiter: str, first: int) -> list[SheetRow]:
    rows, filled, reader = [], 0, _reader(text, delimiter)
    try:
        for line, cells in enumerate(reader, first):
            if any(cell.strip() for cell in cells):
                filled += 1
                rows.append(SheetRow(line, [_cell(cell) for cell in cells]))
            if filled > MOST_ROWS + 1 + _SLACK:
                raise too_many_rows(filled)
    except csv.Error as error:
        text = _(
            "Line %(line)s cannot be read: a quotation mark that is not closed, or stands in the middle of a cell."
        )
        raise FileRefused(text % {"line": reader.line_num}) from error
    return rows


def _cell(text: str) -> Cell:
    if len(text) > MOST_CHARACTERS:
        why = _("%(count)s characters; at most %(most)s are allowed.") % {"count": len(text), "most": MOST_CHARACTERS}
        return CellFault(text[:60], why)
    return unsafe(text)
