"""What a request does to the promises on one GPU model, over time. Pure: dated amounts in, steps out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from inventory.capacity import DatedAmount, reserve_gpus, sweep
from kernel.intervals import Interval
from quotas.ledger import ModelFacts
from quotas.raises import Streams, Totals, added

DAY = timedelta(days=1)
LEAST_SHOWN, MOST_SHOWN = 14 * DAY, 400 * DAY
OPEN_SHOWN = 90 * DAY
"""So much of the time ahead is drawn of what has no end."""


@dataclass(frozen=True, slots=True)
class Step:
    """One GPU model from ``at`` until the next step, in whole GPUs.

    ``promised``: what is guaranteed without the request; ``asked``: what it adds, negative where it gives back;
    ``others``: what the other requests that wait would add.
    """

    at: datetime
    owned: int
    reserve: int
    emergency: int
    promised: int
    asked: int
    others: int

    @property
    def usable(self) -> int:
        return self.owned - self.reserve

    @property
    def free(self) -> int:
        """What can be guaranteed beside the promises; negative where more is promised than usable."""
        return self.usable - self.promised

    @property
    def after(self) -> int:
        """What is guaranteed with the request."""
        return self.promised + self.asked

    @property
    def left(self) -> int:
        """What can still be guaranteed with the request; negative: so many are too many."""
        return self.usable - self.after


@dataclass(frozen=True, slots=True)
class Outlook:
    """``steps`` reach from ``shown.start`` to the end of all facts; ``shown`` is the part that is drawn."""

    now: datetime
    during: Interval
    shown: Interval
    steps: tuple[Step, ...]

    @property
    def asked_steps(self) -> tuple[Step, ...]:
        """The steps that overlap the time asked for."""
        ends = [*(step.at for step in self.steps[1:]), None]
        return tuple(
            step
            for step, end in zip(self.steps, ends, strict=True)
            if (self.during.end is None or step.at < self.during.end) and (end is None or end > self.during.start)
        )

    @property
    def tightest(self) -> Step:
        """Where the least is left with the request, in the time asked for; the earliest of several."""
        return min(self.asked_steps, key=lambda step: step.left)

    @property
    def present(self) -> Step:
        """How it stands now."""
        return max((step for step in self.steps if step.at <= self.now), key=lambda step: step.at)

    @property
    def most_asked(self) -> int:
        return max(step.asked for step in self.asked_steps)

    @property
    def least_free(self) -> int:
        """What could be promised through all of the time asked for, never below zero."""
        return max(0, min(step.free for step in self.asked_steps))

    @property
    def fits(self) -> bool:
        """Whether the guarantees stay within what is usable. What asks for no more always fits."""
        return self.most_asked <= 0 or self.tightest.left >= 0

    @property
    def keeps_reserve(self) -> bool:
        """Whether what is released from the reserve stays within it."""
        return all(step.emergency <= step.reserve for step in self.asked_steps)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks on one GPU model: new totals of ``guaranteed`` during an interval.

    ``held``: what the project is guaranteed of it by all its own claims, dated; ``raised``: by those of them that come
    on top of its base for a time. ``is_on_top``: it would be such a raise itself, and not a new base.
    """

    guaranteed: int
    during: Interval
    held: tuple[DatedAmount, ...] = ()
    raised: tuple[DatedAmount, ...] = ()
    is_on_top: bool = False

    def held_at(self, at: datetime) -> int:
        return sum(amount for during, amount in self.held if during.contains(at))

    def added(self) -> list[DatedAmount]:
        """What it adds to what is held, dated; negative where it gives back."""
        totals, claims = Totals(self.guaranteed, None), Streams(self.held, self.raised)
        return added(totals, claims, self.during, is_on_top=self.is_on_top)


def outlook(asked: Asked, facts: ModelFacts, others: Iterable[Asked], now: datetime, midnight: datetime) -> Outlook:
    """``midnight``: where the drawing starts, the start of the organisation's day or before."""
    waiting = [part for other in others for part in other.added()]
    streams = (facts.gpus, facts.reserve, facts.emergency, facts.promised, asked.added(), waiting)
    steps = tuple(
        Step(at, gpus, reserve_gpus(gpus, points), emergency, promised, added, other)
        for at, (gpus, points, emergency, promised, added, other) in sweep(streams, Interval(midnight))
    )
    return Outlook(now, asked.during, _shown(asked.during, midnight), steps)


def _shown(during: Interval, midnight: datetime) -> Interval:
    """From today on until a third beyond the end, so that what comes after it is seen."""
    start = max(during.start, midnight)
    end = start + OPEN_SHOWN if during.end is None else during.end + (during.end - midnight) / 3
    return Interval(midnight, midnight + min(max(end - midnight, LEAST_SHOWN), MOST_SHOWN))


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a scale starts and ends, and the amounts that are named on it."""

    low: int
    high: int
    marks: tuple[int, ...]


def axis(steps: Sequence[Step]) -> Axis:
    """A scale that holds what is owned; it starts above zero where that leaves out only what all steps have."""
    high = max(1, *(max(step.owned, step.after, step.promised + step.others) for step in steps))
    least = min(min(step.promised, step.after, step.usable) for step in steps)
    low = least - (high - least) // 3 if least * 2 > high else 0
    width = _nice((high - max(low, 0)) / 4)
    low = max(0, low // width * width)
    return Axis(low, high, tuple(range(low, high + 1, width)))


def _nice(least: float) -> int:
    """1, 2 or 5 times a power of ten that is no less."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power >= least:
                return step * power
        power *= 10
