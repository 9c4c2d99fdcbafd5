"""Upkeep of many rows: each in a unit of its own, so that one that fails does not keep the others."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog

from kernel.errors import LockTimeout
from kernel.unit import unit_of_work

Id = TypeVar("Id")
Result = TypeVar("Result")
_log = structlog.get_logger(__name__)


def each(name: str, ids: Iterable[Id], act: Callable[[Id], Result]) -> list[Result]:
    """What ``act`` returned for each id, without those at which it failed: they are logged, and due again next time.

    ``act`` runs in a unit of work of its own, in which it locks and looks again whether the row is still due.
    """
    done: list[Result] = []
    for pk in list(ids):
        try:
            with unit_of_work():
                done.append(act(pk))
        except LockTimeout:
            _log.warning("sweep_put_off", sweep=name, id=pk)
        except Exception:  # noqa: BLE001 - the edge of one row
            _log.exception("sweep_failed", sweep=name, id=pk)
    return done
