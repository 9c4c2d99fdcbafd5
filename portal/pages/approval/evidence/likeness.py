"""Which decisions of before are like this one. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

LOOKED_BACK = timedelta(days=274)
"""Nine months."""
SMALL = 8
"""Up to so many GPUs all requests are of a like size."""
FACTOR = 2


@dataclass(frozen=True, slots=True)
class Traits:
    """By what requests are compared. ``more``: GPUs that are guaranteed on top; empty: not known."""

    gpu_model: str
    tier: str
    stage: str
    more: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of before."""

    id: int
    traits: Traits
    decided_at: datetime
    is_approved: bool


def size_range(more: int) -> tuple[int, int]:
    """From half to twice as many, and whatever is small for what is small."""
    size = abs(more)
    if size <= SMALL:
        return 0, 2 * SMALL
    return size // FACTOR, size * FACTOR


def is_like(this: Traits, other: Traits) -> bool:
    """Of a like size in the same direction, and of the same GPU model, tier or stage."""
    least, most = size_range(this.more)
    if (this.more > 0) != (other.more > 0) or not least <= abs(other.more) <= most:
        return False
    return _shared(this, other) > 0


def _shared(this: Traits, other: Traits) -> int:
    pairs = ((this.gpu_model, other.gpu_model), (this.tier, other.tier), (this.stage, other.stage))
    return sum(bool(mine) and mine == theirs for mine, theirs in pairs)


def like_cases(this: Traits, decided: Iterable[Decided], now: datetime) -> list[Decided]:
    """The like ones of the last nine months: those with more in common first, then the newest."""
    found = [row for row in decided if row.decided_at >= now - LOOKED_BACK and is_like(this, row.traits)]
    return sorted(found, key=lambda row: (-_shared(this, row.traits), -row.decided_at.timestamp(), row.id))


def approved_of(cases: Sequence[Decided]) -> int:
    return sum(case.is_approved for case in cases)
