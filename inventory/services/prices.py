"""Prices: dated, by minute of the organisation's day, never changed for time that has passed (INV4)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.backends.postgresql.psycopg_any import NumericRange
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import Node, NodePrice
from inventory.prices import MINUTES_OF_DAY
from kernel import audit, clock
from kernel.calendar import organisation_zone
from kernel.errors import Invalid
from kernel.formats import exact_instant
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.unit import lock, unit_of_work

LATE = timedelta(minutes=1)
MOST = Decimal(10) ** 8


@dataclass(frozen=True, slots=True)
class PriceSpec:
    """Price per GPU-hour from a moment on (now by default), at minutes ``[first, last)`` of every day."""

    per_gpu_hour: Decimal
    currency: str = "USD"
    first_minute: int = 0
    last_minute: int = MINUTES_OF_DAY
    effective_from: datetime | None = None


def price_set(*, actor: Person, node_id: int, price: PriceSpec) -> NodePrice:
    """A node's price from a moment on. Admins only. Locks the node.

    What is in force at those minutes ends then; the minutes of the day that it leaves open keep their price.
    What was planned for later is replaced too. Raises ``Invalid``.
    """
    require_role(actor, Role.ADMIN)
    _check(price)
    with unit_of_work():
        node: Node = lock({Node: [node_id]})[Node][node_id]
        since = _since(price.effective_from)
        before = [_plain(row) for row in _make_room(node, price, since)]
        row = _row(node, Interval(since), price.first_minute, price.last_minute, price.per_gpu_hour, price.currency)
        row.save()
        audit.record("node.price_set", actor=actor, subject=node, before={"replaced": before}, after=_plain(row))
    return row


def _check(price: PriceSpec) -> None:
    errors: dict[str, str] = {}
    if not price.per_gpu_hour.is_finite() or not 0 <= price.per_gpu_hour < MOST:
        errors["per_gpu_hour"] = _("0 or more, less than %(most)s.") % {"most": MOST}
    if not (len(price.currency) == 3 and price.currency.isascii() and price.currency.isupper()):
        errors["currency"] = _("Three capital letters, such as USD.")
    if not 0 <= price.first_minute < price.last_minute <= MINUTES_OF_DAY:
        errors["last_minute"] = _("Minutes of the day: 0 ≤ first < last ≤ %(most)s.") % {"most": MINUTES_OF_DAY}
    if errors:
        raise Invalid(errors)


def _since(effective_from: datetime | None) -> datetime:
    now = clock.now()
    if effective_from is not None and effective_from < now - LATE:
        words = _("%(at)s lies in the past; what ran then is charged already.")
        raise Invalid({"effective_from": words % {"at": exact_instant(effective_from, organisation_zone())}})
    return max(effective_from or now, now)


def _make_room(node: Node, price: PriceSpec, since: datetime) -> list[NodePrice]:
    """End the prices that meet the new one; carry on those minutes of theirs that it does not name."""
    minutes = NumericRange(price.first_minute, price.last_minute)
    met = list(NodePrice.objects.filter(node=node, during__overlap=to_range(Interval(since)), minutes__overlap=minutes))
    carried: list[NodePrice] = []
    for row in met:
        during, first, last = to_interval(row.during), row.minutes.lower, row.minutes.upper
        rest = Interval(max(during.start, since), during.end)
        for low, high in ((first, price.first_minute), (price.last_minute, last)):
            if low < high:
                carried.append(_row(node, rest, low, high, row.per_gpu_hour, row.currency))
        if during.start < since:
            row.during = to_range(Interval(during.start, since))
            row.save(update_fields=["during"])
        else:
            NodePrice.objects.filter(pk=row.pk).delete()
    NodePrice.objects.bulk_create(carried)
    return met


def _row(node: Node, during: Interval, first: int, last: int, per_gpu_hour: Decimal, currency: str) -> NodePrice:
    return NodePrice(
        node=node,
        during=to_range(during),
        minutes=NumericRange(first, last),
        per_gpu_hour=per_gpu_hour,
        currency=currency,
    )


def _plain(row: NodePrice) -> dict[str, object]:
    return {
        "from": row.during.lower,
        "to": row.during.upper,
        "minutes": [row.minutes.lower, row.minutes.upper],
        "per_gpu_hour": row.per_gpu_hour,
        "currency": row.currency,
    }
