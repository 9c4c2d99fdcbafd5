"""What other rules would have done to what was asked before. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from approvals.rules import Measures, Rules, choose

LOOKED_AT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Way:
    """By which rule something is decided, and in how many steps; none: the portal grants it at once."""

    rule: str
    steps: int

    @property
    def is_automatic(self) -> bool:
        return self.steps == 0


@dataclass(frozen=True, slots=True)
class Past:
    """One request as it was submitted, and its way then."""

    approval_id: int
    title: str
    measures: Measures
    was: Way


@dataclass(frozen=True, slots=True)
class Outcome:
    past: Past
    would_be: Way

    @property
    def is_changed(self) -> bool:
        return self.past.was.steps != self.would_be.steps

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
    outcomes = []
    for one in past:
        rule = choose(rules, one.measures)
        outcomes.append(Outcome(one, Way(rule.name, len(rule.steps))))
    return Comparison(outcomes)
