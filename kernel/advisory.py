"""Advisory locks of the database, held until the transaction ends: for work that only one process does at a time.

They belong to no row. Their numbers stand here, for all rooms: two locks of one number would be one lock.
"""

from enum import IntEnum, unique

from django.db import connection


@unique
class AdvisoryLock(IntEnum):
    """What only one at a time does. A number is never used again for something else."""

    AUDIT_CHAIN = 7_310_001
    SCHEDULER = 7_310_002
    SAMPLE_PARTITIONS = 7_310_003
    DIGESTS = 7_310_004
    CPU_GRANTS = 7_310_101
    MEMORY_GRANTS = 7_310_102


def take(which: AdvisoryLock) -> None:
    """Wait for the lock. In a unit of work at most three seconds: then ``LockTimeout``."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(which)])


def take_if_free(which: AdvisoryLock) -> bool:
    """Take the lock if nobody has it, and say whether it was taken. Never waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int(which)])
        return bool(cursor.fetchone()[0])
