"""One unit of work: the outermost service's transaction, and the one place where rows are locked.

Order: person → role grant → announcement → delegation → approval → review round → research area → import → project →
pool → GPU-model capacity → quota → job → node, each by id.
A model states its place with ``lock_rank``. A unit locks once; what is consumed is locked, not what is freed.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import Model

from kernel.errors import LockOrderError, LockTimeout, NotFound

LOCK_TIMEOUT_MS = 3000
LOCK_NOT_AVAILABLE = "55P03"


class LockRank(IntEnum):
    """The one order in which rows are locked."""

    PERSON = 1
    ROLE_GRANT = 2
    ANNOUNCEMENT = 3
    DELEGATION = 5
    APPROVAL = 10
    REVIEW_ROUND = 20
    RESEARCH_AREA = 25
    PROJECT_IMPORT = 27
    PROJECT = 30
    POOL = 35
    CAPACITY = 40
    QUOTA = 50
    JOB = 60
    NODE = 70


class _Unit:
    def __init__(self) -> None:
        self.has_locked = False


_current: ContextVar[_Unit | None] = ContextVar("unit", default=None)


@contextmanager
def unit_of_work() -> Iterator[None]:
    """A transaction owned by the outermost service; an inner one joins it. A lock that cannot be had within
    three seconds ends the unit with ``LockTimeout`` and changes nothing."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(_Unit())
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_TIMEOUT_MS}ms"])
            yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE:
            raise LockTimeout from error
        raise
    finally:
        _current.reset(token)


def lock(wanted: Mapping[type[Model], Iterable[Any]], *, must_exist: bool = True) -> dict[type[Model], dict[Any, Any]]:
    """Lock these rows ``FOR NO KEY UPDATE`` in the one order and return them fresh, by primary key.

    Called once in a unit (``LockOrderError`` otherwise). A row that is gone is ``NotFound`` unless
    ``must_exist`` is false.
    """
    unit = _current.get()
    if unit is None:
        raise LockOrderError("lock() outside of unit_of_work()")
    if unit.has_locked:
        raise LockOrderError("lock() twice in one unit of work")
    unit.has_locked = True
    locked: dict[type[Model], dict[Any, Any]] = {}
    for model in sorted(wanted, key=lambda m: int(m.lock_rank)):  # type: ignore[attr-defined]
        ids = sorted(set(wanted[model]))
        unlocked = model._default_manager.filter(pk__in=ids).order_by("pk")
        # NO KEY: rows that refer to a locked one may be written meanwhile. With the stronger lock every foreign key
        # to it would wait, outside of the one order, and two units could wait for each other.
        rows = {row.pk: row for row in unlocked.select_for_update(no_key=True)}
        if must_exist and len(rows) != len(ids):
            raise NotFound
        locked[model] = rows
    return locked
