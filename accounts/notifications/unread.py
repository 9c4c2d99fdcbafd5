"""How much of the inbox is unread: the badge of every page, at the price of one look into the cache."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from redis.exceptions import RedisError

from accounts.models import Notification, Person

KEPT_SECONDS = 60
"""A reader that began before a change may still store what was; it is right again after this time."""


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor. Lazy, so that partial pages pay nothing for the frame."""
    return {"unread": SimpleLazyObject(lambda: unread_count(request.user))}


def unread_count(person: object) -> int:
    """How many notifications this person has not read. Told again until something changes: one statement at most."""
    if not isinstance(person, Person):
        return 0
    try:
        kept = cache.get(_key(person.pk))
    except RedisError:
        return _count(person)
    if isinstance(kept, int):
        return kept
    found = _count(person)
    remember(person.pk, found)
    return found


def remember(pk: int, count: int) -> None:
    """What was counted just now, perhaps with the statement of somebody else."""
    with suppress(RedisError):
        cache.set(_key(pk), count, KEPT_SECONDS)


def unread_rows() -> QuerySet[Notification]:
    """What is unread, of everybody."""
    return Notification.objects.filter(read_at__isnull=True)


def forget_on_commit(people: Iterable[int]) -> None:
    """The next page of each of these people counts anew. A cache that is down keeps nothing that is stale for long."""
    keys = [_key(pk) for pk in sorted(set(people))]
    transaction.on_commit(lambda: _forget(keys), robust=True)


def _forget(keys: list[str]) -> None:
    with suppress(RedisError):
        cache.delete_many(keys)


def _count(person: Person) -> int:
    return unread_rows().filter(person=person).count()


def _key(pk: int) -> str:
    return f"unread:{pk}"
