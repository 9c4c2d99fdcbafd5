"""What is seen, as a file: the same rows, columns and order."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel.downloads import require_fits, sheet_file
from portal.pages.table.columns import GROUPS, Column
from portal.pages.table.table import Table
from portal.pages.views.address import open_table


@require_GET
def export(request: HttpRequest, form: str) -> HttpResponse:
    """The table of the same address as CSV or XLSX; only the rows named by ``ids``, if there are any."""
    _here, table = open_table(require_signed_in(request.user), request.GET)
    require_fits(len(table.rows))
    return sheet_file(form, lines_of(table), _("Projects"), f"projects-{table.at.today.isoformat()}")


def lines_of(table: Table) -> Iterator[list[Any]]:
    """The head, then plain values. Instants are in the organisation's zone, which the head names."""
    shown = [column for column in table.columns if column.key != "gpus"]
    yield [_head(column, table) for column in shown]
    for row in table.rows:
        yield [column.value(row) for column in shown]


def _head(column: Column, table: Table) -> str:
    label = str(column.label)
    if column.group:
        return f"{label}, {GROUPS[column.group][1]}"
    return f"{label} ({table.at.zone})" if column.key == "updated_at" else label
