"""What a project holds through a window, and what is missing to totals that it asks for. Pure.

What is granted is always worked out from what is in force, so that the same grant again adds nothing. Amounts are
whole GPUs; a limit of None is no limit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from inventory.capacity import sweep
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
    return [part for part in _joined(found) if not part.is_nothing]


def trimmed(raised: Part, to: Totals, base: Totals) -> Part:
    """What is left of a temporary raise to ``to`` once the base is ``base``: a larger base swallows it, a smaller
    one adds nothing to it."""
    room = _more_limit(to, Part(raised.during, base.guaranteed, base.limit))
    limit = room if raised.limit is None else raised.limit if room is None else min(raised.limit, room)
    return Part(raised.during, min(raised.guaranteed, _more(to.guaranteed, base.guaranteed)), limit)


def _more(asked: int, has: int) -> int:
    return max(0, asked - has)


def _more_limit(asked: Totals, part: Part) -> int | None:
    if part.limit is None:
        return 0
    return None if asked.limit is None else _more(asked.limit, part.limit)


def _joined(parts: Sequence[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is not None and (last.guaranteed, last.limit) == (part.guaranteed, part.limit):
            joined[-1] = Part(Interval(last.during.start, part.during.end), part.guaranteed, part.limit)
        else:
            joined.append(part)
    return joined
