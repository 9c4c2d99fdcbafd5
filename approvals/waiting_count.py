"""How much waits for somebody: the figure beside the room in the rail of every page, mostly from the cache."""

from contextlib import suppress

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.models import Person
from approvals.selectors import waiting_of

_log = structlog.get_logger(__name__)

KEPT_S = 30
"""Others decide meanwhile: the figure is right again after this time, and at once on the pages of the queue."""


def waiting_count(person: Person) -> int:
    """How many approvals this person may decide now. Counted anew only when it was forgotten."""
    try:
        kept = cache.get(_key(person.pk))
    except RedisError:
        kept = None
    if isinstance(kept, int):
        return kept
    try:
        found = len(waiting_of(person))
    except Exception:  # noqa: BLE001 - the edge of the frame: a room that cannot tell takes away a figure, not the page
        _log.exception("approvals_waiting_not_counted", person=person.pk)
        return 0
    remember(person.pk, found)
    return found


def remember(pk: int, count: int) -> None:
    """What a page has counted just now."""
    with suppress(RedisError):
        cache.set(_key(pk), count, KEPT_S)


def forget(pk: int) -> None:
    """After this person decided something."""
    with suppress(RedisError):
        cache.delete(_key(pk))


def _key(pk: int) -> str:
    return f"approvals-waiting:{pk}"
