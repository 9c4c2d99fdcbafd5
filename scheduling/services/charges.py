"""Charges: what an allocation cost, by day of the organisation and by price. Written once, when it is freed."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from psycopg.types.range import TimestamptzRange

from inventory.prices import Price
from inventory.selectors import price_segments
from kernel.intervals import Interval
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Charge, DeviceAllocation

Piece = tuple[date, datetime, datetime, Price | None]


def charge_allocations(allocations: Sequence[DeviceAllocation], *, until: datetime) -> list[Charge]:
    """Charge each allocation of one member from its start to ``until``. An empty interval costs nothing.

    Needs ``device.node`` and ``member.attempt.job``. In the transaction that frees the devices; a second charge
    of the same time is refused by the database.
    """
    pieces: dict[datetime, list[Piece]] = {}
    charges = []
    for allocation in allocations:
        start = allocation.allocated_at
        if start not in pieces:
            pieces[start] = list(_pieces(allocation.device.node_id, start, until))
        charges += [_charge(allocation, *piece) for piece in pieces[start]]
    return Charge.objects.bulk_create(charges)


def _pieces(node_id: int, start: datetime, end: datetime) -> Iterator[Piece]:
    if end <= start:
        return
    for segment in price_segments(node_id, Interval(start, end), end):
        for day, piece_start, piece_end in by_day(segment.during.start, segment.during.end or end):
            yield day, piece_start, piece_end, segment.price


def _charge(a: DeviceAllocation, day: date, start: datetime, end: datetime, price: Price | None) -> Charge:
    return Charge(
        allocation=a,
        project_id=a.member.attempt.job.project_id,
        gpu_model_id=a.device.gpu_model_id,
        day=day,
        during=TimestamptzRange(start, end),
        milli_gpu_seconds=milli_gpu_seconds(a.milli, a.allocated_at, start, end),
        per_gpu_hour=price.per_gpu_hour if price else None,
        currency=price.currency if price else "",
        is_simulated=a.device.is_simulated,
    )
