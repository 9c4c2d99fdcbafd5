"""What a policy is: an ordered list of rules, of which the first that fits says who decides. Pure.

A rule fits when every condition it names holds. A measure that is not known, or has no end, fits no bound: what
cannot be judged is never let through by a bound. The last rule names no condition, so that one always fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Measures:
    """By what a request is judged. None: not known, or without bound.

    ``gpus``: how many more are guaranteed than without it, negative when it gives back. ``share_percent``: those
    GPUs of what is usable of the model. ``days``: length in days, rounded up.
    """

    gpus: int | None = None
    share_percent: float | None = None
    days: int | None = None
    tier: str | None = None

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Measures":
        return cls(**{name: plain.get(name) for name in ("gpus", "share_percent", "days", "tier")})


@dataclass(frozen=True, slots=True)
class StepRule:
    """One decision: by anybody who holds one of ``roles`` or is one of ``people`` (ids).

    ``answer_hours``: how long it may take before people are reminded; after as long again, ``escalate_to`` (roles)
    may decide it too.
    """

    roles: tuple[str, ...] = ()
    people: tuple[int, ...] = ()
    answer_hours: int = 24
    escalate_to: tuple[str, ...] = ()

    @property
    def who(self) -> tuple[frozenset[str], frozenset[int]]:
        return frozenset(self.roles), frozenset(self.people)


@dataclass(frozen=True, slots=True)
class Rule:
    """Bounds are included. No steps: it is granted at once, by the portal itself."""

    name: str
    steps: tuple[StepRule, ...]
    most_gpus: int | None = None
    most_share_percent: float | None = None
    most_days: int | None = None
    tiers: tuple[str, ...] = field(default=())

    def fits(self, measures: Measures) -> bool:
        bounds = (
            (self.most_gpus, measures.gpus),
            (self.most_share_percent, measures.share_percent),
            (self.most_days, measures.days),
        )
        within = all(most is None or (value is not None and value <= most) for most, value in bounds)
        return within and (not self.tiers or measures.tier in self.tiers)

    @property
    def is_catch_all(self) -> bool:
        return (self.most_gpus, self.most_share_percent, self.most_days, self.tiers) == (None, None, None, ())


Rules = tuple[Rule, ...]


def choose(rules: Rules, measures: Measures) -> Rule:
    """The first rule that fits. Raises ``LookupError`` where none does: nothing is decided by default."""
    for rule in rules:
        if rule.fits(measures):
            return rule
    raise LookupError(f"no rule fits {measures}")


def never_by_itself(rules: Rules) -> Rules:
    """The same, but that nothing is granted without a person: where nobody would decide, who decides on the rest does.

    Giving back stays free: a rule that bounds the GPUs at none or fewer.
    """
    return tuple(
        replace(rule, steps=rules[-1].steps)
        if not rule.steps and (rule.most_gpus is None or rule.most_gpus > 0)
        else rule
        for rule in rules
    )


def missing_steps(have: Sequence[StepRule], needed: Sequence[StepRule]) -> list[StepRule]:
    """What ``needed`` asks for beyond ``have``, in its order: more may be asked when more turns out to be at stake."""
    known = [step.who for step in have]
    return [step for step in needed if step.who not in known]


def written(rules: Rules) -> list[dict[str, Any]]:
    """As it is stored."""
    return [asdict(rule) for rule in rules]


def read(stored: Sequence[Mapping[str, Any]]) -> Rules:
    """What ``written`` gave."""
    return tuple(
        Rule(
            name=row["name"],
            steps=tuple(
                StepRule(tuple(s["roles"]), tuple(s["people"]), s["answer_hours"], tuple(s["escalate_to"]))
                for s in row["steps"]
            ),
            most_gpus=row["most_gpus"],
            most_share_percent=row["most_share_percent"],
            most_days=row["most_days"],
            tiers=tuple(row["tiers"]),
        )
        for row in stored
    )
