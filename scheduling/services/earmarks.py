"""GPUs that were freed for a queued job are kept for it: the table is what the last decision said."""

from collections.abc import Iterable
from datetime import datetime

from scheduling.engine.model import Earmark
from scheduling.models import Earmark as EarmarkRow
from scheduling.snapshot import instant_of


def earmarks_replace(wanted: Iterable[Earmark], now: datetime) -> bool:
    """Make the table say this, and return whether it said something else before. In the leader's transaction."""
    rows = {(row.job_id, row.node_id): row for row in EarmarkRow.objects.order_by("job_id", "node_id")}
    marks = {(mark.job, mark.node): mark for mark in wanted}
    gone = [row.pk for key, row in rows.items() if key not in marks or marks[key].milli != row.milli]
    new = [mark for key, mark in marks.items() if key not in rows or mark.milli != rows[key].milli]
    if gone:
        EarmarkRow.objects.filter(pk__in=gone).delete()
    if new:
        EarmarkRow.objects.bulk_create(
            EarmarkRow(
                job_id=mark.job,
                node_id=mark.node,
                milli=mark.milli,
                since=now if mark.since is None else instant_of(mark.since),
            )
            for mark in new
        )
    return bool(gone or new)
