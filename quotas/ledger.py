"""The ledger's arithmetic: what is free when, and what a new grant does to the rows before it. Pure.

The law (QUO3): at every instant the guarantees on a GPU model sum to at most capacity − reserve, and the
emergency claims to at most the reserve. The database checks the same law at commit, in its own words.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from inventory.capacity import DatedAmount, reserve_gpus, sweep
from kernel.intervals import Interval


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """All dated rows of one GPU model: accepted GPUs, reserve in basis points, ordinary and emergency guarantees."""

    gpus: tuple[DatedAmount, ...] = ()
    reserve: tuple[DatedAmount, ...] = ()
    promised: tuple[DatedAmount, ...] = ()
    emergency: tuple[DatedAmount, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """One model from ``at`` until the next step, in whole GPUs."""

    at: datetime
    capacity: int
    reserve: int
    promised: int
    emergency: int

    @property
    def usable(self) -> int:
        return self.capacity - self.reserve

    @property
    def free(self) -> int:
        """What can still be guaranteed; negative where the law is broken."""
        return self.usable - self.promised

    @property
    def holds(self) -> bool:
        """Whether the law holds here."""
        return self.free >= 0 and self.emergency <= self.reserve


def steps(facts: ModelFacts, within: Interval) -> list[LedgerStep]:
    """The ledger of one model through ``within``: a step at its start and one at each change in it."""
    streams = (facts.gpus, facts.reserve, facts.promised, facts.emergency)
    return [
        LedgerStep(at, gpus, reserve_gpus(gpus, points), promised, emergency)
        for at, (gpus, points, promised, emergency) in sweep(streams, within)
    ]


def tightest(facts: ModelFacts, within: Interval) -> LedgerStep:
    """The step of ``within`` with the least free GPUs; the earliest of several."""
    return min(steps(facts, within), key=lambda step: step.free)


def tightest_part(course: Sequence[LedgerStep], within: Interval) -> LedgerStep:
    """The same for one of many windows that lie in a course which ``steps`` gave once."""
    first = max(0, bisect_right(course, within.start, key=attrgetter("at")) - 1)
    inside = [step for step in course[first:] if within.end is None or step.at < within.end]
    return min(inside, key=attrgetter("free"))


def broken(facts: ModelFacts, within: Interval) -> LedgerStep | None:
    """The first step at which the law does not hold."""
    return next((step for step in steps(facts, within) if not step.holds), None)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row with an amount in force during an interval: a claim, or a fact of capacity or reserve."""

    id: int
    during: Interval
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to earlier rows when something new takes their place.

    ``ended``: rows whose interval is cut to end where the new one starts. ``voided``: rows that never come into
    force. ``continued``: intervals after the new one, each with the row that goes on there.
    """

    ended: tuple[Entry, ...] = ()
    voided: tuple[Entry, ...] = ()
    continued: tuple[tuple[Entry, Interval], ...] = ()
    kept: tuple[Entry, ...] = field(default=())

    def after(self) -> list[DatedAmount]:
        """What is in force of the earlier rows once the plan is carried out."""
        rows = [*self.kept, *self.ended]
        return [(row.during, row.amount) for row in rows] + [(during, row.amount) for row, during in self.continued]


def supersede(rows: Sequence[Entry], new: Interval) -> Plan:
    """Make room for ``new`` among rows that must not overlap it. Nothing before ``new.start`` changes.

    A row in force at the start ends there; one that would begin inside is voided; what reaches beyond
    ``new.end`` goes on after it as a row of its own.
    """
    ended, voided, continued, kept = [], [], [], []
    for row in sorted(rows, key=lambda entry: (entry.during.start, entry.id)):
        if not row.during.overlaps(new):
            kept.append(row)
            continue
        if row.during.start < new.start:
            ended.append(replace(row, during=Interval(row.during.start, new.start)))
        else:
            voided.append(row)
        if new.end is not None and (row.during.end is None or row.during.end > new.end):
            continued.append((row, Interval(new.end, row.during.end)))
    return Plan(tuple(ended), tuple(voided), tuple(continued), tuple(kept))


def cover(amounts: Iterable[DatedAmount], within: Interval) -> list[DatedAmount]:
    """The sum of dated amounts as rows that do not overlap: what a dedicated pool's claim must be, when."""
    return _as_rows([(at, total) for at, (total,) in sweep((amounts,), within)], within)


def _as_rows(swept: Iterable[tuple[datetime, int]], within: Interval) -> list[DatedAmount]:
    merged: list[tuple[datetime, int]] = []
    for at, total in swept:
        if not merged or merged[-1][1] != total:
            merged.append((at, total))
    ends: list[datetime | None] = [at for at, _total in merged[1:]]
    return [
        (Interval(at, end), total) for (at, total), end in zip(merged, [*ends, within.end], strict=True) if total > 0
    ]


def cover_within(amounts: Iterable[DatedAmount], others: ModelFacts, within: Interval) -> list[DatedAmount]:
    """``cover``, but never more at an instant than is free beside ``others``."""
    streams = (amounts, others.gpus, others.reserve, others.promised)
    swept = [
        (at, min(wanted, max(0, gpus - reserve_gpus(gpus, points) - promised)))
        for at, (wanted, gpus, points, promised) in sweep(streams, within)
    ]
    return _as_rows(swept, within)
