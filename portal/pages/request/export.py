"""The requests that are listed, as a file: the same rows in the same order."""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel import clock
from kernel.calendar import local_day, organisation_zone
from kernel.downloads import require_fits, sheet_file
from kernel.spreadsheet import Cell
from portal.pages.request.listing import Row, asked_for, rows_of


@require_GET
def export(request: HttpRequest, form: str) -> HttpResponse:
    """What the list at the same address holds, all its pages, as CSV or XLSX. Raises ``Invalid`` for too many."""
    found = asked_for(request, require_signed_in(request.user)).rows
    require_fits(found.count())
    name = f"quota-requests-{local_day(clock.now()).isoformat()}"
    return sheet_file(form, _lines(rows_of(list(found))), _("Quota requests"), name)


def _lines(rows: Sequence[Row]) -> Iterator[list[Cell]]:
    yield _heads()
    for row in rows:
        asked, kept, decided = row.request, row.kept, row.approval.decided_at if row.approval else None
        yield [
            asked.pk,
            asked.project.name,
            asked.gpu_model.title if asked.gpu_model else None,
            asked.get_state_display(),
            *(kept.get("held_guaranteed"), kept.get("held_limit")),
            *(asked.guaranteed, asked.limit, asked.granted_guaranteed, asked.granted_limit),
            *(asked.granted_from or asked.starts_at, asked.granted_ends_at or asked.ends_at),
            *(asked.submitted_at, decided, str(asked.submitted_by or asked.created_by), asked.reason),
        ]


def _heads() -> list[Cell]:
    """An empty limit of what is held, asked for or granted means none."""
    parts = (_("held"), _("asked for"), _("granted"))
    amounts = [f"{what}, {part}" for part in parts for what in (_("Guaranteed"), _("Limit"))]
    instants = [f"{name} ({organisation_zone().key})" for name in (_("From"), _("To"), _("Submitted"), _("Decided"))]
    return [_("Request"), _("Project"), _("GPU model"), _("State"), *amounts, *instants, _("By"), _("Reason")]
