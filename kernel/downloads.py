"""A file as the answer to a request."""

from collections.abc import Iterable, Sequence

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from kernel.errors import Invalid
from kernel.spreadsheet import CSV, XLSX, Cell, csv_of, xlsx_of

MOST_ROWS = 10_000


def attachment(content: bytes, kind: str, name: str) -> HttpResponse:
    """To be kept and not shown. No cache keeps what one person may see."""
    headers = {
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=kind, headers=headers)


def require_fits(count: int) -> None:
    """Raises ``Invalid`` for more rows than a file is made of."""
    if count > MOST_ROWS:
        text = _("%(count)s rows; at most %(most)s fit a file. Narrow the filters.")
        raise Invalid({"rows": text % {"count": count, "most": MOST_ROWS}})


def sheet_file(form: str, lines: Iterable[Sequence[Cell]], title: str, name: str) -> HttpResponse:
    """A table as ``name.csv`` or ``name.xlsx``, by ``form``."""
    content, kind = (csv_of(lines), CSV) if form == "csv" else (xlsx_of(lines, title), XLSX)
    return attachment(content, kind, f"{name}.{form}")
