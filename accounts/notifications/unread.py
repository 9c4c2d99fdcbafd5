"""How much of the inbox is unread: the badge of every page, at the price of one look into the cache."""

from collections.abc import Iterable
from typing import Any

from django.core.cache import cache
from django.db import transaction
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
    try:
        cache.set(_key(person.pk), found, KEPT_SECONDS)
    except RedisError:
        return found
    return found


def forget_on_commit(people: Iterable[int]) -> None:
    """The next page of each of these people counts anew. A cache that is down keeps nothing that is stale for long."""
    keys = [_key(pk) for pk in sorted(set(people))]
    transaction.on_commit(lambda: _forget(keys), robust=True)


def _forget(keys: list[str]) -> None:
    try:
        cache.delete_many(keys)
    except RedisError:
        return


def _count(person: Person) -> int:
    return Notification.objects.filter(person=person, read_at__isnull=True).count()


def _key(pk: int) -> str:
    return f"unread:{pk}"
