"""The ledger of what is to leave the house: claiming what is due, and writing down what became of it.

A claim is a lease by the database's clock. Whoever dies while sending loses it, and the line is due again; whoever
was overtaken meanwhile still writes that it sent, for that is true, but no failure (``tries`` is the fencing number).
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, Func, OuterRef, Q, QuerySet, Value
from django.db.models.fields import DurationField

from accounts.models import Channel, DeliveryOutcome, NotificationDelivery
from accounts.notifications.morning import this_morning
from kernel import advisory, clock

LEASE = timedelta(minutes=3)
"""Longer than sending one may take: every step of it has a time limit of its own."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=6)
MAX_TRIES = 16
"""With the waits between them about two days: a mail server that is away for a weekend's night loses nothing."""

Rows = QuerySet[NotificationDelivery]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one worker sends now: one line, or all that go into one person's digest."""

    channel: Channel
    lines: tuple[NotificationDelivery, ...]

    @property
    def person_id(self) -> int | None:
        return self.lines[0].person_id


def claim_next(without: Collection[Channel] = ()) -> Claim | None:
    """Take the next due line, or a digest, that nobody has claimed; none of the channels ``without``."""
    return _claim_one(without) or (None if Channel.DIGEST in without else _claim_digest())


def _claim_one(without: Collection[Channel]) -> Claim | None:
    with transaction.atomic():
        due = _free().filter(due_at__lte=clock.now()).exclude(channel__in=[*without, Channel.DIGEST])
        row = due.order_by("due_at", "id").select_for_update(skip_locked=True, of=("self",)).first()
        if row is None:
            return None
        return Claim(Channel(row.channel), _leased([row.pk]))


def _claim_digest() -> Claim | None:
    """All that one person's digest holds: what is due this morning, and what could not be sent before.

    Before the morning no digest leaves, and nobody gets two on one day: what was missed goes with the next.
    One at a time: two workers must not share one person's lines between two mails.
    """
    now = clock.now()
    morning = this_morning(now)
    if morning is None:
        return None
    digests = NotificationDelivery.objects.filter(channel=Channel.DIGEST)
    theirs = digests.filter(person=OuterRef("person"))
    busy = Exists(theirs.filter(outcome=DeliveryOutcome.DUE, claimed_until__gt=_database_clock()))
    has_one = Exists(theirs.filter(outcome=DeliveryOutcome.SENT, done_at__gte=morning))
    with transaction.atomic():
        advisory.take(advisory.AdvisoryLock.DIGESTS)
        mine = _free().filter(channel=Channel.DIGEST)
        first = mine.filter(~busy, ~has_one, due_at__lte=now).order_by("due_at", "id").first()
        if first is None:
            return None
        rows = mine.filter(Q(due_at__lte=now) | Q(tries__gt=0), person=first.person_id)
        return Claim(Channel.DIGEST, _leased(list(rows.values_list("pk", flat=True))))


def _free() -> Rows:
    unclaimed = Q(claimed_until__isnull=True) | Q(claimed_until__lte=_database_clock())
    return NotificationDelivery.objects.filter(unclaimed, outcome=DeliveryOutcome.DUE)


def _leased(pks: list[int]) -> tuple[NotificationDelivery, ...]:
    rows = NotificationDelivery.objects.filter(pk__in=pks)
    until = ExpressionWrapper(
        _database_clock() + Value(LEASE, output_field=DurationField()), output_field=DateTimeField()
    )
    rows.update(claimed_until=until, tries=F("tries") + 1)
    return tuple(rows.select_related("notification").order_by("notification__created_at", "id"))


def _database_clock() -> Func:
    return Func(function="clock_timestamp", output_field=DateTimeField())


def mark_sent(lines: Iterable[NotificationDelivery]) -> None:
    """It left the house. Who was overtaken says so too: then the other's copy has the same Message-ID."""
    _due(lines).update(outcome=DeliveryOutcome.SENT, done_at=clock.now(), claimed_until=None, error="")


def mark_dropped(lines: Iterable[NotificationDelivery], why: str) -> None:
    """It need not be sent any more."""
    _due(lines).update(outcome=DeliveryOutcome.DROPPED, done_at=clock.now(), claimed_until=None, error=why)


def mark_failed(lines: Collection[NotificationDelivery], error: str, *, is_final: bool) -> None:
    """Try again later, or give up: at once where trying again is no use, else after ``MAX_TRIES``."""
    now = clock.now()
    for line in lines:
        mine = _due([line]).filter(tries=line.tries)
        if is_final or line.tries >= MAX_TRIES:
            mine.update(outcome=DeliveryOutcome.FAILED, done_at=now, claimed_until=None, error=error)
        else:
            mine.update(due_at=now + wait_after(line.tries), claimed_until=None, error=error)


def wait_after(tries: int) -> timedelta:
    """How long until the next try: twice as long each time, up to six hours."""
    doubled: int = 2 ** min(max(tries - 1, 0), 16)
    return min(LONGEST_WAIT, FIRST_WAIT * doubled)


def put_back(delivery_id: int, now: datetime) -> bool:
    """Try again what was given up; says whether it was so."""
    failed = NotificationDelivery.objects.filter(pk=delivery_id, outcome=DeliveryOutcome.FAILED)
    return bool(failed.update(outcome=DeliveryOutcome.DUE, done_at=None, due_at=now, tries=0, error=""))


def _due(lines: Iterable[NotificationDelivery]) -> Rows:
    return NotificationDelivery.objects.filter(pk__in=[line.pk for line in lines], outcome=DeliveryOutcome.DUE)
