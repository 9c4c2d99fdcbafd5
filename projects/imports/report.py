"""The report of a check as rows of the database, and how a row reads."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from django.utils.translation import gettext as _

from kernel.spreadsheet import safe
from projects.imports.checking import Judged
from projects.models import ImportRow, ProjectImport, RowKind
from projects.words import value as in_words
from projects.words import word

BATCH = 1000


def row_of(of: ProjectImport, judged: Judged) -> ImportRow:
    """The report of one row, unsaved."""
    changes = [[line.field, line.before, line.after] for line in judged.lines()] if not judged.faults else []
    return ImportRow(
        of=of,
        line=judged.line,
        kind=judged.kind,
        name=judged.name[:200],
        project=judged.known.project if judged.known else None,
        changes=changes,
        faults=[list(fault) for fault in judged.faults],
        content=judged.known.content if judged.known else "",
    )


def keep(of: ProjectImport, rows: Sequence[ImportRow]) -> None:
    """Put this report in the place of the one before, and its counts on the import (unsaved)."""
    ImportRow.objects.filter(of=of).delete()
    ImportRow.objects.bulk_create(rows, batch_size=BATCH)
    counts = Counter(row.kind for row in rows)
    of.new, of.changed = counts[RowKind.NEW], counts[RowKind.CHANGED]
    of.unchanged, of.refused = counts[RowKind.UNCHANGED], counts[RowKind.REFUSED]
    of.rows_total = of.rows_done = len(rows)


COUNTS = ("new", "changed", "unchanged", "refused", "rows_total", "rows_done")


def differs(kept: ImportRow, now: ImportRow) -> bool:
    """Whether a row comes out otherwise than the check said."""
    same = ("line", "kind", "project_id", "content")
    return any(getattr(kept, name) != getattr(now, name) for name in same) or kept.changes != _plain(now.changes)


def overtaken(kept: Mapping[int, ImportRow], rows: Sequence[ImportRow]) -> list[ImportRow]:
    """Mark and return the rows that differ from what was kept of them."""
    found = []
    for row in rows:
        before = kept.get(row.line)
        row.is_overtaken = before is None or differs(before, row)
        found += [row] if row.is_overtaken else []
    return found


def changes_in_words(row: ImportRow) -> list[tuple[str, str, str]]:
    """Field, before, after, as the history says them."""
    return [(word(field), in_words(field, before), in_words(field, after)) for field, before, after in row.changes]


def as_csv(rows: Iterable[ImportRow]) -> bytes:
    """One line a row; UTF-8 with a byte order mark."""
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(
        [_("Row"), _("Result"), _("Name"), _("Id"), _("Column"), _("Value"), _("Before"), _("After"), _("Why")]
    )
    for row in rows:
        start = [row.line, str(RowKind(row.kind).label), safe(row.name), row.project_id or ""]
        for line in _lines(row) or [["", "", "", "", ""]]:
            writer.writerow([*start, *(safe(text) for text in line)])
    return file.getvalue().encode("utf-8-sig")


def _lines(row: ImportRow) -> list[list[str]]:
    refused = [[column, value, "", "", why] for column, value, why in row.faults]
    return refused or [[field, "", before, after, ""] for field, before, after in changes_in_words(row)]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
