"""What is seen, as a file: the same rows, columns and order."""

from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from openpyxl import Workbook

from accounts.policies import require_signed_in
from kernel.downloads import attachment
from kernel.errors import Invalid
from kernel.spreadsheet import CSV, XLSX, safe
from portal.pages.table.columns import GROUPS, Column
from portal.pages.table.table import Table
from portal.pages.views.address import open_table

MOST_ROWS = 10_000


@require_GET
def export(request: HttpRequest, form: str) -> HttpResponse:
    """The table of the same address as CSV or XLSX; only the rows named by ``ids``, if there are any."""
    _here, table = open_table(require_signed_in(request.user), request.GET)
    if len(table.rows) > MOST_ROWS:
        text = _("%(count)s rows; at most %(most)s fit a file. Narrow the filters.")
        raise Invalid({"rows": text % {"count": len(table.rows), "most": MOST_ROWS}})
    content, kind = (as_csv(table), CSV) if form == "csv" else (as_xlsx(table), XLSX)
    day = table.at.today.isoformat()
    return attachment(content, kind, f"projects-{day}.{form}")


def as_csv(table: Table) -> bytes:
    """UTF-8 with a byte order mark, without which Excel reads Chinese as noise."""
    lines = (",".join(_quoted(value) for value in line) for line in lines_of(table))
    return "\r\n".join([*lines, ""]).encode("utf-8-sig")


def as_xlsx(table: Table) -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_("Projects"))
    sheet.freeze_panes = "B2"
    for line in lines_of(table):
        sheet.append(line)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def lines_of(table: Table) -> Iterator[list[Any]]:
    """The head, then plain values: numbers as numbers, instants in the organisation's zone, named in the head."""
    shown = [column for column in table.columns if column.key != "gpus"]
    yield [safe(_head(column, table)) for column in shown]
    for row in table.rows:
        yield [_plain(column.value(row), table) for column in shown]


def _head(column: Column, table: Table) -> str:
    label = str(column.label)
    if column.group:
        return f"{label}, {GROUPS[column.group][1]}"
    return f"{label} ({table.at.zone})" if column.key == "updated_at" else label


def _plain(value: Any, table: Table) -> Any:
    if isinstance(value, datetime):
        # A spreadsheet knows no zones: the wall clock of the organisation.
        return value.astimezone(table.at.zone).replace(tzinfo=None, microsecond=0)
    return safe(value) if isinstance(value, str) else value


def _quoted(value: Any) -> str:
    if value is None:
        return ""
    text = value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
    return '"' + text.replace('"', '""') + '"' if isinstance(value, str) else text
