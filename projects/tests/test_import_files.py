"""Files as programs write them, and as nobody should: what is read, as what, and with which sentence it is refused."""

import io
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.utils import get_column_letter

from projects.imports.archive import require_bounded
from projects.imports.columns import counting
from projects.imports.reading import UnknownColumns, read
from projects.imports.sheet import CellFault, FileRefused, Sheet
from projects.imports.values import Catalogue, stated
from projects.imports.writing import csv_file, template_columns, xlsx_file
from projects.tests import workbooks

DATA = Path(__file__).parent / "data"
MODELS = ["h100"]


def sheet_of(raw: bytes) -> Sheet:
    return read(raw, MODELS, ignores_unknown=True)[0]


def refusal(raw: bytes) -> str:
    with pytest.raises(FileRefused) as caught:
        read(raw, MODELS, ignores_unknown=True)
    return caught.value.message


# --- CSV

ROW = "name;goal\r\n语音翻译;降低成本\r\n"


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (ROW.encode(), "utf-8"),
        (ROW.encode("utf-8-sig"), "utf-8"),
        (ROW.encode("utf-16"), "utf-16-le"),
        (b"\xfe\xff" + ROW.encode("utf-16-be"), "utf-16-be"),
        (ROW.encode("gb18030"), "gb18030"),
        (b"name;goal\nplain;text\n", "utf-8"),
    ],
)
def test_encodings(raw: bytes, encoding: str) -> None:
    sheet = sheet_of(raw)
    assert sheet.encoding == encoding
    assert sheet.rows[0].cells[0] in ("语音翻译", "plain")


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-15", "shift_jis", "cp1251"])
def test_text_in_another_encoding_is_not_taken_for_chinese(encoding: str) -> None:
    words = {"shift_jis": "音声翻訳ソフトウェア", "cp1251": "Проект перевода речи"}
    text = f"name;goal\n{words.get(encoding, 'Größe und Übersetzung, créée à Málaga')};x\n"
    assert "neither UTF-8 nor UTF-16 nor GB18030" in refusal(text.encode(encoding))


def test_what_only_says_that_it_is_utf_16_is_refused() -> None:
    assert "does not fit" in refusal(b"\xff\xfen")


@pytest.mark.parametrize(
    ("text", "delimiter", "cells"),
    [
        ("name,goal\nA,b;c;d\n", ",", ["A", "b;c;d"]),
        ("name;goal\nA;b,c,d\n", ";", ["A", "b,c,d"]),
        ("name\tgoal\nA\tb,c;d\n", "\t", ["A", "b,c;d"]),
        ("name\nA\n", ",", ["A"]),
        ('"na me";"goal, with comma"\nA;b\n', ";", ["A", "b"]),
        ("sep=;\nname;goal\nA;b\n", ";", ["A", "b"]),
        ('name,goal\n"A ""quoted""","two\nlines, and; more"\n', ",", ['A "quoted"', "two\nlines, and; more"]),
        ("\n\n;;\nname;goal\n;\nA;b\n", ";", ["A", "b"]),
    ],
)
def test_delimiters_and_quotes(text: str, delimiter: str, cells: list[str]) -> None:
    sheet = sheet_of(text.encode())
    assert (sheet.delimiter, list(sheet.rows[0].cells)) == (delimiter, cells)


def test_rows_are_numbered_as_a_spreadsheet_shows_them() -> None:
    sheet = sheet_of(b'name,goal\n\n"A\nB",x\nC,y\n')
    assert [row.line for row in sheet.rows] == [3, 4]
    assert [row.line for row in sheet_of(b"sep=,\nname\nA\n").rows] == [3]


@pytest.mark.parametrize("text", ['name,goal\n"A,b\nC,d\n', 'name,goal\n"A"x,b\n'])
def test_a_quotation_mark_out_of_place_names_the_line(text: str) -> None:
    assert "Line " in refusal(text.encode())


def test_our_mark_before_a_formula_is_taken_away_and_no_other_apostrophe() -> None:
    sheet = sheet_of(b"name,goal\n'=1+1,'quoted'\n=1+1,''@x\n")
    assert [list(row.cells) for row in sheet.rows] == [["=1+1", "'quoted'"], ["=1+1", "'@x"]]


def test_unknown_separators_are_named() -> None:
    assert "“|”" in refusal(b"sep=|\nname|goal\nA|b\n")


# --- bounds


def test_rows_columns_and_size_are_bounded() -> None:
    assert sheet_of(b"name\n" + b"A\n" * 10_000).rows[-1].line == 10_001
    assert "at most 10000" in refusal(b"name\n" + b"A\n" * 10_001)
    assert "at most 10000" in refusal(b"name\n" + b"A\n" * 500_000)
    assert "More than 200 columns" in refusal(("name," + ",".join(f"c{n}" for n in range(200)) + "\nA\n").encode())
    assert "at most 8 MiB" in refusal(b"x" * (8 * 2**20 + 1))


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"\xef\xbb\xbf", b" , \n"])
def test_an_empty_file_says_so(raw: bytes) -> None:
    assert "The file is empty" in refusal(raw)


def test_a_head_alone_is_no_import() -> None:
    assert "no row under it" in refusal(b"name,goal\n")


def test_a_file_of_something_else_names_its_first_heads() -> None:
    assert "“%PDF-1.7”" in refusal(b"%PDF-1.7\nx\n")
    assert "before 2007" in refusal(b"\xd0\xcf\x11\xe0rest")


def test_no_head_brings_control_characters_into_the_report() -> None:
    with pytest.raises(UnknownColumns) as caught:
        read(b"name,a\x00b\nA,x\n", MODELS, ignores_unknown=False)
    assert caught.value.names == ["a�b"]


# --- XLSX


def test_a_file_with_the_traits_of_libreoffice() -> None:
    sheet = sheet_of((DATA / "libreoffice.xlsx").read_bytes())
    assert [(row.line, list(row.cells)) for row in sheet.rows] == [
        (2, ["多模态 语音", "Zeile 1\nZeile 2", "7"]),
        (4, ["2026-12-01", "TRUE"]),
    ]


def test_a_file_with_the_traits_of_excel() -> None:
    rows = sheet_of((DATA / "excel.xlsx").read_bytes()).rows
    formula, error = rows[0].cells[2], rows[1].cells[1]
    assert list(rows[0].cells[:2]) == ["Inline", "Line 1\r\nLine 2"]
    assert isinstance(formula, CellFault)
    assert (formula.shown, formula.why) == ('="train"&"ing"', "A formula is not imported: put its value in the cell.")
    assert rows[1].cells[0] == "a _x0041_ b"
    assert isinstance(error, CellFault)
    assert error.shown == "#N/A"
    assert rows[2].cells[0] == "Rich text"


def test_the_kept_files_are_what_the_code_here_makes() -> None:
    for name, made in (("libreoffice", workbooks.libreoffice()), ("excel", workbooks.excel())):
        with zipfile.ZipFile(DATA / f"{name}.xlsx") as kept, zipfile.ZipFile(io.BytesIO(made)) as now:
            assert {part: kept.read(part) for part in kept.namelist()} == {p: now.read(p) for p in now.namelist()}


def written(*rows: list[Any]) -> bytes:
    book = Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_cells_of_every_kind() -> None:
    row = [True, 7, 7.0, 1.5, 2**40, datetime(2026, 3, 1), datetime(2026, 3, 1, 12, 30), date(2026, 3, 1), None, "  x "]  # noqa: DTZ001 - a spreadsheet knows no zones
    sheet = sheet_of(written(["name", *[f"c{n}" for n in range(9)]], row))
    day = "2026-03-01"
    assert list(sheet.rows[0].cells) == [
        *("TRUE", "7", "7", "1.5", str(2**40), day, f"{day} 12:30:00", day, "", "  x "),
    ]


def test_a_formula_written_by_a_program_without_its_value_is_refused_too() -> None:
    cell = sheet_of(written(["name"], ["=A1"])).rows[0].cells[0]
    assert isinstance(cell, CellFault)


def bomb(**parts: bytes) -> bytes:
    named = {f"xl/{name}.xml": raw for name, raw in parts.items()}
    return workbooks.workbook(workbooks.sheet("<row><c/></row>"), more=named)


def renamed(raw: bytes) -> bytes:
    """A part whose name does not say that it is XML."""
    return workbooks.workbook(workbooks.sheet("<row><c/></row>"), more={"xl/sheet.bin": raw})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (bomb(huge=b" " * (65 * 2**20)), "64 may be"),
        (bomb(**{f"p{n}": b"" for n in range(500)}), "500 and"),
        (bomb(lol=b'<!DOCTYPE x [<!ENTITY a "aaaa">]><x/>'), "defines names of its own"),
        (bomb(late=b"<!--" + b" " * 5000 + b'--><!DOCTYPE x [<!ENTITY a "aaaa">]><x/>'), "defines names of its own"),
        (bomb(wide='<!DOCTYPE x [<!ENTITY a "aaaa">]><x/>'.encode("utf-16")), "defines names of its own"),
        (renamed(b'<!DOCTYPE x [<!ENTITY a "aaaa">]><x/>'), "defines names of its own"),
        (workbooks.workbook(workbooks.sheet(f"<row>{'<c/>' * 300_001}</row>")), "far more than its rows"),
        (bomb(styled=b"<styleSheet>" + b"<xf/>" * 300_001 + b"</styleSheet>"), "far more than its rows"),
        (bomb(named=b"<x " + b" ".join(b"a%d=''" % n for n in range(300_001)) + b"/>"), "far more than its rows"),
        (bomb(tag=b"<x a='" + b" " * (2 * 2**20) + b"'/>"), "far more than its rows"),
        (bomb(deep=b"<a>" * 300_001), "far more than its rows"),
        (b"PK\x03\x04 and nothing", "no XLSX workbook"),
        (workbooks.workbook("<worksheet"), "no XLSX workbook"),
        (workbooks.workbook(workbooks.sheet('<row r="99999999999"><c><v>1</v></c></row>')), "more rows than a sheet"),
        (workbooks.workbook(workbooks.sheet('<row r="1"><c t="s"><v>77</v></c></row>')), "no XLSX workbook"),
        (workbooks.workbook(workbooks.sheet("<row><c><v>1</v></c></row>" * 10_002)), "at most 10000"),
    ],
)
def test_archives_that_harm_or_are_none(raw: bytes, said: str) -> None:
    assert said in refusal(raw)


def test_many_rows_and_texts_are_no_harm() -> None:
    rows = "".join(f'<row r="{n}">{"<c><v>1</v></c>" * 40}</row>' for n in range(1, 9001))
    strings = [f"text {n}" for n in range(100_000)]
    require_bounded(workbooks.workbook(workbooks.sheet(rows), strings=strings))


@pytest.mark.parametrize("column", ["datasets", "milestones"])
def test_a_cell_of_thousands_of_lines_is_one_fault_and_nothing_is_kept_of_it(column: str) -> None:
    cell = "\n".join(f"2027-01-01 {n}" for n in range(101))
    row = stated({column: cell}, Catalogue([], [], {}))
    assert row.faults == [(column, "2027-01-01 0", "101 rows; at most 100 are allowed.")]
    assert row.facts == {column: []}


def test_a_zip_of_something_else_is_no_workbook() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "x")
    assert "no XLSX workbook" in refusal(file.getvalue())


def test_a_cell_far_to_the_right_costs_nothing() -> None:
    row = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row><row r="2"><c r="XFD2"><v>1</v></c></row>'
    assert "no row under it" in refusal(workbooks.workbook(workbooks.sheet(row)))


# --- what we write


def test_the_template_explains_and_offers_what_is_allowed() -> None:
    columns = template_columns(MODELS)
    book = load_workbook(io.BytesIO(xlsx_file([], columns, [])))
    first, explained, offered = book.worksheets
    assert [cell.value for cell in first[1]] == columns
    rules = {str(rule.sqref).split("2")[0]: rule.formula1 for rule in first.data_validations.dataValidation}
    letters = {column: get_column_letter(columns.index(column) + 1) for column in ("kind", "stage")}
    assert rules[letters["stage"]] == f"'{offered.title}'!$B$2:$B$7"
    assert [cell.value for cell in offered["A"]][:3] == ["kind", "research", "product"]
    assert [row[0].value for row in explained.iter_rows(min_row=2)][: len(columns)] == columns
    assert counting(MODELS)(columns) == len(columns)


def test_the_csv_template_is_read_by_us() -> None:
    raw = csv_file([{"name": "A"}], template_columns(MODELS))
    _sheet, head = read(raw, MODELS, ignores_unknown=False)
    assert list(head.places) == template_columns(MODELS)
