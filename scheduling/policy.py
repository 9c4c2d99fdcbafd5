"""The organisation's choices for the scheduler, as data: what each means, its default and its bounds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction

from scheduling.engine.model import Policy
from scheduling.models import SchedulingPolicy

MINUTE, HOUR, DAY = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Choices:
    """Durations in seconds. ``usage_sensitivity_pct``: how strongly past use moves the surplus, 0 not at all.

    Of a tier, ``weight`` divides what the guarantees leave, and ``rank`` says who is served first: the larger.
    """

    starvation_after_s: int = 30 * MINUTE
    min_runtime_s: int = 30 * MINUTE
    interruptions_per_day: int = 3
    usage_sensitivity_pct: int = 50
    half_life_s: int = 7 * DAY
    earmark_margin_s: int = 2 * MINUTE
    member_lost_after_s: int = MINUTE
    planned_starts: int = 50
    high_weight: int = 4
    mid_weight: int = 2
    low_weight: int = 1
    high_rank: int = 2
    mid_rank: int = 1
    low_rank: int = 0

    def plain(self) -> dict[str, int]:
        return asdict(self)

    def engine(self, grace_s: float) -> Policy:
        """What the engine takes; ``grace_s`` is the longest that a pool gives."""
        return Policy(
            starvation_after_s=self.starvation_after_s,
            grace_s=grace_s,
            interruptions_per_day=self.interruptions_per_day,
            usage_sensitivity=Fraction(self.usage_sensitivity_pct, 100),
            earmark_margin_s=self.earmark_margin_s,
            member_lost_after_s=self.member_lost_after_s,
            planned_starts=self.planned_starts,
        )

    def weight_of(self, tier: str | None) -> Fraction:
        """A project without a tier counts as one of the lowest."""
        return Fraction({"high": self.high_weight, "mid": self.mid_weight}.get(tier or "", self.low_weight))

    def rank_of(self, tier: str | None) -> int:
        return {"high": self.high_rank, "mid": self.mid_rank}.get(tier or "", self.low_rank)


BOUNDS: Mapping[str, tuple[int, int]] = {
    "starvation_after_s": (MINUTE, 30 * DAY),
    "min_runtime_s": (0, 7 * DAY),
    "interruptions_per_day": (0, 100),
    "usage_sensitivity_pct": (0, 200),
    "half_life_s": (HOUR, 365 * DAY),
    "earmark_margin_s": (0, DAY),
    "member_lost_after_s": (0, DAY),
    "planned_starts": (0, 1000),
    **{f"{tier}_weight": (0, 1000) for tier in ("high", "mid", "low")},
    **{f"{tier}_rank": (0, 100) for tier in ("high", "mid", "low")},
}


@dataclass(frozen=True, slots=True)
class InForce:
    """The choices in force and their version; 0: nobody has changed the defaults."""

    choices: Choices
    version: int = 0


def policy_now() -> InForce:
    """What counts now. One statement. A choice that the row does not know has its default."""
    row = SchedulingPolicy.objects.order_by("-version").values_list("values", "version").first()
    if row is None:
        return InForce(Choices())
    values, version = row
    known = {field.name for field in fields(Choices)}
    return InForce(Choices(**{name: value for name, value in values.items() if name in known}), version)
