"""What other rules would have done to what was asked before. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from approvals.rules import Measures, Rule, Rules, choose, never_by_itself

Who = tuple[frozenset[str], frozenset[int]]
"""Roles and people of one step, as ``StepRule.who`` names them."""
LOOKED_AT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Way:
    """By which rule something is decided, and who decides each step; nobody: the portal grants it at once."""

    rule: str
    who: tuple[Who, ...] = ()

    @classmethod
    def of(cls, rule: Rule) -> "Way":
        return cls(rule.name, tuple(step.who for step in rule.steps))

    @property
    def steps(self) -> int:
        return len(self.who)

    @property
    def is_automatic(self) -> bool:
        return not self.who


@dataclass(frozen=True, slots=True)
class Past:
    """One request as it was submitted, and its way then."""

    approval_id: int
    title: str
    measures: Measures
    was: Way
    is_strict: bool = False
    """Who asked may write the rules, and gets nothing by them alone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    past: Past
    would_be: Way

    @property
    def is_changed(self) -> bool:
        """Others decide, or more, or nobody does."""
        return self.past.was.who != self.would_be.who

    @property
    def gpus(self) -> int:
        return max(self.past.measures.gpus or 0, 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``outcomes``: of every request, in the order given."""

    outcomes: Sequence[Outcome]

    @property
    def changed(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.is_changed]

    @property
    def moves(self) -> list[tuple[int, int, int]]:
        """Steps before, steps then, how many requests; what stays as it is too."""
        counted = Counter((one.past.was.steps, one.would_be.steps) for one in self.outcomes)
        return [(before, after, count) for (before, after), count in sorted(counted.items())]

    @property
    def automatic_before(self) -> tuple[int, int]:
        """Requests that passed by themselves, and how many more GPUs they guaranteed."""
        passed = [one for one in self.outcomes if one.past.was.is_automatic]
        return len(passed), sum(one.gpus for one in passed)

    @property
    def automatic_then(self) -> tuple[int, int]:
        """Requests that would have passed by themselves, and how many more GPUs."""
        passed = [one for one in self.outcomes if one.would_be.is_automatic]
        return len(passed), sum(one.gpus for one in passed)


def compare(rules: Rules, past: Sequence[Past]) -> Comparison:
    """Raises ``LookupError`` where no rule fits: such rules are no policy."""
    strict = never_by_itself(rules)
    return Comparison([Outcome(one, Way.of(choose(strict if one.is_strict else rules, one.measures))) for one in past])
