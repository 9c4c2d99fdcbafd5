"""Day partitions of the raw samples: made ahead and on demand, dropped whole when they are too old.

A day is a UTC day. Making one takes no lock that stops readers or writers of the others: the table is built
apart and attached. One advisory lock keeps two makers of the same day from meeting.
"""

import re
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta

from django.db import connection

from kernel import advisory
from kernel.advisory import AdvisoryLock
from kernel.unit import unit_of_work

PARENT = "monitoring_gpusample"
_NAME = re.compile(rf"{PARENT}_(\d{{8}})")


def partition_name(day: date) -> str:
    return f"{PARENT}_{day:%Y%m%d}"


def partitions_ensure(days: Collection[date]) -> list[date]:
    """Make the partitions that are missing and return their days. One statement when all are there."""
    missing = sorted(set(days) - set(partition_days()))
    if not missing:
        return []
    with unit_of_work(), connection.cursor() as cursor:
        advisory.take(AdvisoryLock.SAMPLE_PARTITIONS)
        made = sorted(set(missing) - set(partition_days()))
        for day in made:
            name = partition_name(day)
            start, end = _bounds(day)
            cursor.execute(f"CREATE TABLE {name} (LIKE {PARENT} INCLUDING ALL)")
            # A matching check spares the scan when the table is attached; then it has done its work.
            cursor.execute(f"ALTER TABLE {name} ADD CONSTRAINT day CHECK (at >= '{start}' AND at < '{end}')")
            cursor.execute(f"ALTER TABLE {PARENT} ATTACH PARTITION {name} FOR VALUES FROM ('{start}') TO ('{end}')")
            cursor.execute(f"ALTER TABLE {name} DROP CONSTRAINT day")
    return made


def partitions_drop(before: datetime) -> list[date]:
    """Drop the partitions that hold nothing at or after ``before``; return their days.

    Waits at most three seconds for readers (``LockTimeout``); the next run tries again.
    """
    today = before.astimezone(UTC).date()
    old = [day for day in partition_days() if day + timedelta(days=1) <= today]
    for day in old:
        with unit_of_work(), connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {partition_name(day)}")
    return old


def partition_days() -> list[date]:
    """The days that have a partition, oldest first."""
    query = """
        SELECT child.relname FROM pg_inherits
        JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = %s::regclass
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [PARENT])
        names = [_NAME.fullmatch(row[0]) for row in cursor.fetchall()]
    return sorted(datetime.strptime(name[1], "%Y%m%d").replace(tzinfo=UTC).date() for name in names if name)


def _bounds(day: date) -> tuple[str, str]:
    start = datetime.combine(day, datetime.min.time(), UTC)
    return start.isoformat(), (start + timedelta(days=1)).isoformat()
