"""Writing calls with an ``Idempotency-Key`` happen once: the answer is stored with the act, in one transaction."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from kernel import clock
from kernel.errors import Invalid
from kernel.models import IdempotencyKey
from kernel.subject import Actor, actor_fields

MAX_KEY_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Stored:
    status: int
    body: Any


def request_hash(method: str, path: str, body: bytes) -> str:
    """What the key stands for: the same key with another request is an error of the caller."""
    return hashlib.sha256(b"\n".join([method.encode(), path.encode(), body])).hexdigest()


def claim(*, actor: Actor, key: str, fingerprint: str) -> Stored | None:
    """Take the key for this unit, or return the stored answer. A second call at the same time waits for the first.

    Raises ``Invalid`` if the key was used for another request or is too long. Call inside a unit of work.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        text = _("%(count)s characters; 1 to %(most)s are allowed")
        raise Invalid({"Idempotency-Key": text % {"count": len(key), "most": MAX_KEY_LENGTH}})
    who = actor_fields(actor)
    identity = {"actor_type": who["actor_type"], "actor_id": who["actor_id"], "key": key}
    row = IdempotencyKey(request_hash=fingerprint, at=clock.now(), **identity)
    IdempotencyKey.objects.bulk_create([row], ignore_conflicts=True)
    kept = IdempotencyKey.objects.select_for_update().get(**identity)
    if kept.request_hash != fingerprint:
        text = _("“%(key)s” was used before for another request")
        raise Invalid({"Idempotency-Key": text % {"key": key}})
    return None if kept.status is None else Stored(kept.status, kept.body)


def stored(*, actor: Actor, key: str) -> Stored | None:
    """The answer kept for this key, without taking it."""
    who = actor_fields(actor)
    row = IdempotencyKey.objects.filter(actor_type=who["actor_type"], actor_id=who["actor_id"], key=key).first()
    return None if row is None or row.status is None else Stored(row.status, row.body)


def store(*, actor: Actor, key: str, status: int, body: Any) -> None:
    """Keep the answer of the act just done, in its transaction."""
    who = actor_fields(actor)
    IdempotencyKey.objects.filter(actor_type=who["actor_type"], actor_id=who["actor_id"], key=key).update(
        status=status, body=body
    )
