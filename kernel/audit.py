"""The audit log: an entry in the act's own transaction, chained afterwards by a single writer.

Acts do not queue on the chain's head: entries are inserted freely, and ``seal_pending`` links the committed
ones under an advisory lock. What is not yet sealed is protected by the insert-only trigger alone, for seconds.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Model

from kernel import advisory, clock
from kernel.advisory import AdvisoryLock
from kernel.models import AuditEntry, AuditSeal
from kernel.origin import current_origin
from kernel.subject import Actor, actor_fields, subject_fields

GENESIS = "0" * 64
Values = Mapping[str, Any]


def record(
    action: str, *, actor: Actor, subject: Model, before: Values | None = None, after: Values | None = None
) -> AuditEntry:
    """Write one entry in the caller's transaction. ``before`` and ``after`` hold plain values, never a secret."""
    entry = _entry(action, actor, Change(subject, before, after))
    entry.save(force_insert=True)
    return entry


@dataclass(frozen=True, slots=True)
class Change:
    """What an act did to one subject."""

    subject: Model
    before: Values | None = None
    after: Values | None = None


def record_many(action: str, *, actor: Actor, changes: Iterable[Change]) -> None:
    """The same for many subjects of one act, in one statement for up to a thousand of them."""
    AuditEntry.objects.bulk_create([_entry(action, actor, change) for change in changes], batch_size=1000)


def _entry(action: str, actor: Actor, change: Change) -> AuditEntry:
    came_from = current_origin()
    return AuditEntry(
        at=clock.now(),
        action=action,
        before=_plain(change.before),
        after=_plain(change.after),
        via=came_from.via,
        address=came_from.address,
        token=came_from.token,
        **subject_fields(change.subject),
        **actor_fields(actor),
    )


def seal_pending(limit: int = 1000) -> int:
    """Link up to ``limit`` committed entries to the chain and return how many. One writer at a time."""
    with transaction.atomic():
        if not advisory.take_if_free(AdvisoryLock.AUDIT_CHAIN):
            return 0
        last = AuditSeal.objects.order_by("-position").first()
        position, previous = (last.position, last.hash) if last else (0, GENESIS)
        seals = []
        for entry in AuditEntry.objects.filter(seal__isnull=True).order_by("id")[:limit]:
            position += 1
            digest = entry_hash(previous, entry)
            seals.append(
                AuditSeal(position=position, entry=entry, previous_hash=previous, hash=digest, sealed_at=clock.now())
            )
            previous = digest
        AuditSeal.objects.bulk_create(seals)
    return len(seals)


def broken_links() -> list[str]:
    """Every place where the chain does not hold, as sentences; empty when it does."""
    faults, previous, expected = [], GENESIS, 1
    for seal in AuditSeal.objects.select_related("entry").order_by("position").iterator(chunk_size=1000):
        if seal.position != expected:
            faults.append(f"position {expected} is missing before {seal.position}")
        if seal.previous_hash != previous:
            faults.append(f"position {seal.position} does not follow the one before it")
        if entry_hash(seal.previous_hash, seal.entry) != seal.hash:
            faults.append(f"position {seal.position}: entry {seal.entry_id} was altered")
        previous, expected = seal.hash, seal.position + 1
    return faults


def entry_hash(previous: str, entry: AuditEntry) -> str:
    """SHA-256 over the previous hash and every column of the entry as JSON with sorted keys."""
    columns = {field.attname: getattr(entry, field.attname) for field in entry._meta.concrete_fields}
    canonical = json.dumps(columns, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{previous}\n{canonical}".encode()).hexdigest()


def _plain(values: Values | None) -> Any:
    return None if values is None else json.loads(json.dumps(dict(values), cls=DjangoJSONEncoder))
