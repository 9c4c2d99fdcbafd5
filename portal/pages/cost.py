"""What time on GPUs costs: pieces of it at the prices of its nodes. One computation for the table and the pages."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from inventory.prices import PriceSegment
from inventory.selectors import price_cuts
from kernel import clock
from kernel.intervals import Interval
from scheduling.metering import milli_gpu_seconds
from scheduling.selectors.pieces import Piece
from scheduling.selectors.usage import MILLI_SECONDS_PER_GPU_HOUR

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Cost:
    """Money by currency; ``is_whole`` is false where some of the time had no price."""

    amounts: dict[str, Decimal]
    is_whole: bool


NOTHING = Cost({}, True)


@dataclass(slots=True)
class Spent:
    """A growing sum. What has no price is counted as time, so that it can be said."""

    amounts: dict[str, Decimal] = field(default_factory=dict)
    milli_seconds: int = 0
    unpriced: int = 0

    @property
    def cost(self) -> Cost:
        return Cost(self.amounts, not self.unpriced)

    @property
    def gpu_hours(self) -> float:
        return self.milli_seconds / MILLI_SECONDS_PER_GPU_HOUR

    @property
    def unpriced_hours(self) -> float:
        return self.unpriced / MILLI_SECONDS_PER_GPU_HOUR

    def include(self, other: "Spent") -> None:
        """Add what another sum holds."""
        self.milli_seconds += other.milli_seconds
        self.unpriced += other.unpriced
        for currency, money in other.amounts.items():
            self.amounts[currency] = self.amounts.get(currency, Decimal(0)) + money

    def add(self, milli_seconds: int, cut: PriceSegment) -> None:
        self.milli_seconds += milli_seconds
        if cut.price is None:
            self.unpriced += milli_seconds
            return
        money = cut.price.per_gpu_hour * milli_seconds / MILLI_SECONDS_PER_GPU_HOUR
        self.amounts[cut.price.currency] = self.amounts.get(cut.price.currency, Decimal(0)) + money


def spent_by(
    pieces: Iterable[Piece], within: Interval, key: Callable[[Piece], K], *, with_simulated: bool = False
) -> dict[K, Spent]:
    """Time and money within an interval, by a property of the pieces. One statement for the prices.

    Of real GPUs only, unless ``with_simulated``: then the key must tell them apart, for what a simulation would have
    cost is never added to money.
    """
    found = spent_by_period(pieces, [within], key, with_simulated=with_simulated)
    return {part: spent for (_start, part), spent in found.items()}


def spent_by_period(
    pieces: Iterable[Piece], periods: Sequence[Interval], key: Callable[[Piece], K], *, with_simulated: bool = False
) -> dict[tuple[datetime, K], Spent]:
    """The same for periods that follow each other without a gap; a key begins with the start of its period."""
    start, end = periods[0].start, periods[-1].end or clock.now()
    counted = [piece for piece in pieces if with_simulated or not piece.is_simulated]
    mine = [piece for piece in counted if piece.until > start and piece.start < end]
    cuts = price_cuts({piece.node for piece in mine}, Interval(start, end)) if mine else {}
    begins = {node: [cut.during.start for cut in found] for node, found in cuts.items()}
    sums: dict[tuple[datetime, K], Spent] = {}
    for piece in mine:
        for period in periods:
            begin, until = max(piece.start, period.start), min(piece.until, period.end or end)
            if begin >= until:
                continue
            spent = sums.setdefault((period.start, key(piece)), Spent())
            for cut, at, to in _priced(cuts[piece.node], begins[piece.node], begin, until):
                spent.add(milli_gpu_seconds(piece.milli, piece.allocated_at, at, to), cut)
    return sums


def _priced(
    cuts: Sequence[PriceSegment], begins: Sequence[datetime], begin: datetime, until: datetime
) -> Iterator[tuple[PriceSegment, datetime, datetime]]:
    """The cuts that ``[begin, until)`` touches, each with the part of it that lies there."""
    for cut in cuts[max(0, bisect_right(begins, begin) - 1) :]:
        if cut.during.start >= until:
            return
        at, to = max(begin, cut.during.start), min(until, cut.during.end or until)
        if at < to:
            yield cut, at, to
