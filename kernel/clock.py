"""The one source of *now*. Tests freeze it; leases and expiry ask the database's clock instead."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from django.db import connection

_frozen: ContextVar[datetime | None] = ContextVar("frozen", default=None)


def now() -> datetime:
    """The current instant, in UTC."""
    return _frozen.get() or datetime.now(UTC)


def database_now() -> datetime:
    """The database's clock (``clock_timestamp``), shared by all processes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    instant: datetime = row[0]
    return instant


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """For tests: inside, ``now()`` is ``at`` (zone-aware)."""
    if at.tzinfo is None:
        raise ValueError("a frozen clock needs a time zone")
    token = _frozen.set(at.astimezone(UTC))
    try:
        yield
    finally:
        _frozen.reset(token)
