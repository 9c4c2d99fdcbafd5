"""A project as the cells of its columns, and files of them: for editing, and empty as a template."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from kernel.spreadsheet import from_xlsx, safe, to_xlsx
from projects.imports.columns import BY_KEY, PARTS, compute_key, keys
from projects.imports.limits import MOST_ROWS
from projects.imports.values import CHOICES
from projects.models import ComputeRequest, Milestone, Project, ResearchArea

Cells = Mapping[str, str | int | None]
_LOOKS_MET = re.compile(r"\smet\s\S+$", re.IGNORECASE)
_WIDTHS = {"name": 44, "goal": 60, "milestones": 44, "datasets": 30, "area": 18, "data_class": 12, "stage": 18}
_NARROW = 12


def cells_of(project: Project, compute: Iterable[ComputeRequest], milestones: Iterable[Milestone], lead: str) -> Cells:
    """By column; read back, they state what the project is already."""
    gpus = {compute_key(row.gpu_model.name, part): getattr(row, part) for row in compute for part in PARTS}
    return {
        "id": project.pk,
        "name": project.name,
        "goal": project.goal,
        "kind": project.kind,
        "stage": project.stage,
        "area": project.area.name if project.area else "",
        "data_class": project.data_class,
        "breakthrough": project.breakthrough,
        "datasets": _lines(project.datasets),
        "lead": lead,
        "milestones": "\n".join(_milestone(row) for row in milestones),
        **gpus,
    }


def is_as_written(cell: str, value: str | int | None) -> bool:
    """Whether a cell is what reading our own file gives for this value.

    The reader of XLSX does not tell an escaped character from a text that looks like one, so both count.
    """
    written = ILLEGAL_CHARACTERS_RE.sub("", "" if value is None else str(value))
    read = _with_line_breaks(cell)
    return read in (_with_line_breaks(written), _with_line_breaks(from_xlsx(written)))


def _with_line_breaks(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def csv_file(rows: Iterable[Cells], columns: Sequence[str]) -> bytes:
    """UTF-8 with a byte order mark, without which Excel reads Chinese as noise."""
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_plain(row.get(column)) for column in columns])
    return file.getvalue().encode("utf-8-sig")


def xlsx_file(rows: Iterable[Cells], columns: Sequence[str], areas: Sequence[ResearchArea]) -> bytes:
    """The projects on the first sheet with lists of what is allowed, the explanation on the second."""
    book = Workbook()
    sheet: Any = book.active
    sheet.title = _("Projects")
    sheet.append(list(columns))
    for row in rows:
        sheet.append([_for_xlsx(row.get(column)) for column in columns])
    _dress(sheet, columns)
    _explain(book.create_sheet(_("Explanation")), columns)
    _offer(book, sheet, columns, areas)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def template_columns(gpu_models: Iterable[str]) -> list[str]:
    return keys(gpu_models)


def _plain(value: str | int | None) -> str | int:
    return "" if value is None else _text(value) if isinstance(value, str) else value


def _for_xlsx(value: str | int | None) -> str | int | None:
    return to_xlsx(_text(value)) if isinstance(value, str) else value


def _text(value: str) -> str:
    """With line breaks of one kind before it is marked: a file format that changes them would hide our mark."""
    return safe(_with_line_breaks(value))


def _lines(values: Sequence[str]) -> str:
    """A single one with a ``|`` in it ends with a line break: it is one line, not two datasets."""
    text = "\n".join(values)
    return f"{text}\n" if "|" in text and "\n" not in text else text


def _milestone(row: Milestone) -> str:
    text = f"{row.due_on.isoformat()} {row.name}"
    if row.met_on is not None:
        return f"{text} met {row.met_on.isoformat()}"
    return f"{text} met -" if _LOOKS_MET.search(f" {row.name}") else text


def _dress(sheet: Any, columns: Sequence[str]) -> None:
    sheet.freeze_panes = "C2"
    for place, column in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(place)].width = _WIDTHS.get(column, _NARROW)
        sheet.cell(1, place).font = Font(bold=True)


def _explain(sheet: Any, columns: Sequence[str]) -> None:
    sheet.append([_("Column"), _("Name"), _("What it takes")])
    gpus = _("Whole GPUs of this model. Give min, target and max, or none of the three.")
    for key in columns:
        column = BY_KEY.get(key)
        sheet.append([key, str(column.label) if column else key, str(column.help) if column else gpus])
    for key, choices in CHOICES.items():
        for value, label in choices.choices:
            sheet.append([key, value, str(label)])
    for letter, width in (("A", 16), ("B", 26), ("C", 100)):
        sheet.column_dimensions[letter].width = width
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row in sheet.iter_rows(min_row=2):
        row[2].alignment = Alignment(wrap_text=True, vertical="top")


def _offer(book: Workbook, sheet: Any, columns: Sequence[str], areas: Sequence[ResearchArea]) -> None:
    """Lists to choose from, on a sheet of their own: one inside of a cell's rule is short and has no commas."""
    lists = {key: list(choices.values) for key, choices in CHOICES.items()}
    lists["area"] = [area.name for area in areas]
    offered = book.create_sheet(_("Allowed values"))
    for place, (key, values) in enumerate(lists.items(), 1):
        letter = get_column_letter(place)
        for line, value in enumerate([key, *values], 1):
            offered.cell(line, place, value)
        if key in columns and values:
            column = get_column_letter(columns.index(key) + 1)
            rule = DataValidation("list", formula1=f"'{offered.title}'!${letter}$2:${letter}${len(values) + 1}")
            rule.allow_blank = True
            rule.add(f"{column}2:{column}{MOST_ROWS + 1}")
            sheet.add_data_validation(rule)
