"""What a project holds through a window, and what is missing to totals that it asks for. Pure.

What is granted is always worked out from what is in force, so that the same grant again adds nothing. Amounts are
whole GPUs; a limit of None is no limit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from inventory.capacity import DatedAmount, sweep
from kernel.intervals import Interval


@dataclass(frozen=True, slots=True)
class Totals:
    """What is to be held altogether."""

    guaranteed: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """Guarantee and limit during an interval: of one claim, or summed over several.

    A sum's ``limit`` is as it adds up, and may be less than its guarantee; ``shown_limit`` is what holds then.
    """

    during: Interval
    guaranteed: int
    limit: int | None

    @property
    def shown_limit(self) -> int | None:
        return None if self.limit is None else max(self.limit, self.guaranteed)

    @property
    def is_nothing(self) -> bool:
        return (self.guaranteed, self.limit) == (0, 0)


@dataclass(frozen=True, slots=True)
class Streams:
    """Dated guarantees of one project: all that it holds, and what of it comes on top of its base for a time."""

    held: tuple[DatedAmount, ...] = ()
    raised: tuple[DatedAmount, ...] = ()


def held(claims: Iterable[Part], within: Interval) -> list[Part]:
    """The sum of these claims through ``within``: a part for each stretch in which nothing changes, without gaps."""
    rows = list(claims)
    streams = (
        [(row.during, row.guaranteed) for row in rows],
        [(row.during, row.limit or 0) for row in rows],
        [(row.during, int(row.limit is None)) for row in rows],
    )
    swept = sweep(streams, within)
    ends: list[datetime | None] = [at for at, _sums in swept[1:]]
    return [
        Part(Interval(at, end), guaranteed, None if unlimited else limit)
        for (at, (guaranteed, limit, unlimited)), end in zip(swept, [*ends, within.end], strict=True)
    ]


def missing(asked: Totals, parts: Sequence[Part]) -> list[Part]:
    """What has to come on top of these parts so that ``asked`` is held; nothing where it is. Neighbours are joined."""
    found = [Part(part.during, _more(asked.guaranteed, part.guaranteed), _more_limit(asked, part)) for part in parts]
    return [part for part in joined(found) if not part.is_nothing]


def total_after(base: int, raised: int, held: int) -> int:
    """What is guaranteed altogether under a new base, of a project that holds ``held`` of which temporary raises are
    ``raised``: a larger base swallows them, a smaller one adds nothing to them, and they never add to what is held."""
    return max(base, min(base + raised, held))


def added(asked: Totals, claims: Streams, within: Interval, *, is_on_top: bool) -> list[DatedAmount]:
    """What a request adds to what is guaranteed, dated through ``within``; negative where it gives back. A raise on
    top fills up to its total; otherwise the base becomes what is asked."""
    swept = sweep((claims.held, claims.raised), within)
    ends: list[datetime | None] = [at for at, _sums in swept[1:]]
    return [
        (
            Interval(at, end),
            _more(asked.guaranteed, has) if is_on_top else total_after(asked.guaranteed, raised, has) - has,
        )
        for (at, (has, raised)), end in zip(swept, [*ends, within.end], strict=True)
    ]


def left_of(raises: Sequence[tuple[Part, Totals]], base: Totals, has: int) -> list[Part]:
    """What is left of temporary raises once the base is ``base``, in a stretch in which nothing changes and ``has`` is
    held altogether. Each goes with the totals that it was to reach.

    Together they add what ``total_after`` says: first each what its own totals still lack, then whatever is left.
    """
    room = total_after(base.guaranteed, sum(part.guaranteed for part, _to in raises), has) - base.guaranteed
    amounts = []
    for part, to in raises:
        amounts.append(min(part.guaranteed, _more(to.guaranteed, base.guaranteed), room))
        room -= amounts[-1]
    for index, (part, _to) in enumerate(raises):
        more = min(part.guaranteed - amounts[index], room)
        amounts[index] += more
        room -= more
    return [
        Part(part.during, amount, _limit_left(part, to, base))
        for (part, to), amount in zip(raises, amounts, strict=True)
    ]


def joined(parts: Sequence[Part]) -> list[Part]:
    """Neighbours that hold the same as one part."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if last is not None and (last.guaranteed, last.limit) == (part.guaranteed, part.limit):
            found[-1] = Part(Interval(last.during.start, part.during.end), part.guaranteed, part.limit)
        else:
            found.append(part)
    return found


def _limit_left(raised: Part, to: Totals, base: Totals) -> int | None:
    room = _more_limit(to, Part(raised.during, base.guaranteed, base.limit))
    return room if raised.limit is None else raised.limit if room is None else min(raised.limit, room)


def is_lower(limit: int | None, than: int | None) -> bool:
    """Of two limits; None is no limit."""
    return limit is not None and (than is None or limit < than)


def _more(asked: int, has: int) -> int:
    return max(0, asked - has)


def _more_limit(asked: Totals, part: Part) -> int | None:
    if part.limit is None:
        return 0
    return None if asked.limit is None else _more(asked.limit, part.limit)
