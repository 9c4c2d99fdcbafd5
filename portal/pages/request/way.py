"""Who decides on what is asked, by the policy in force: the same rules and measures that a submission is judged by."""

from dataclasses import dataclass

from approvals.rule_words import rule_title
from approvals.rules import Measures, Rule, Rules, choose


@dataclass(frozen=True, slots=True)
class Hint:
    """Up to ``gpus`` more, for ``days`` at most where that is what stands in the way, ``steps`` people decide."""

    gpus: int
    days: int | None
    rule: Rule

    @property
    def is_automatic(self) -> bool:
        return not self.rule.steps


@dataclass(frozen=True, slots=True)
class Way:
    """The rule that fits, with what would take a shorter way."""

    measures: Measures
    rule: Rule
    hints: tuple[Hint, ...]

    @property
    def is_automatic(self) -> bool:
        return not self.rule.steps

    @property
    def title(self) -> str:
        return rule_title(self.rule.name)


def way_of(rules: Rules, measures: Measures) -> Way | None:
    """None where no rule fits: then nothing can be submitted. ``rules`` as they hold for who asks."""
    try:
        rule = choose(rules, measures)
    except LookupError:
        return None
    return Way(measures, rule, tuple(_hints(rules, measures, rule)))


def _hints(rules: Rules, measures: Measures, rule: Rule) -> list[Hint]:
    """For each number of steps below that of the rule: the most that would take so few."""
    found: list[Hint] = []
    for steps in range(len(rule.steps)):
        hint = _best(rules, measures, steps)
        if hint is not None and hint.gpus > 0 and all(hint.gpus > other.gpus for other in found):
            found.append(hint)
    return found


def _best(rules: Rules, measures: Measures, steps: int) -> Hint | None:
    """With the days as they are if that helps, else with as many as a rule allows."""
    limits = sorted({rule.most_days for rule in rules if rule.most_days is not None}, reverse=True)
    shorter = [days for days in limits if measures.days is None or days < measures.days]
    for days in (measures.days, *shorter):
        hints = [
            Hint(gpus, None if days == measures.days else days, rule)
            for gpus in _candidates(rules, measures)
            if len((rule := choose(rules, _at(measures, gpus, days))).steps) == steps
        ]
        if hints and max(hint.gpus for hint in hints) > 0:
            return max(hints, key=lambda hint: hint.gpus)
    return None


def _candidates(rules: Rules, measures: Measures) -> list[int]:
    """The amounts at which a bound of a rule is just kept, below what is asked."""
    asked = measures.gpus or 0
    amounts = {rule.most_gpus for rule in rules if rule.most_gpus is not None}
    if measures.share_percent and asked > 0:
        per_gpu = measures.share_percent / asked
        shares = (rule.most_share_percent for rule in rules if rule.most_share_percent is not None)
        amounts |= {int(share / per_gpu + 1e-9) for share in shares}
    return sorted(amount for amount in amounts if 0 < amount < asked)


def _at(measures: Measures, gpus: int, days: int | None) -> Measures:
    share = measures.share_percent
    if share is not None and measures.gpus:
        share = share * gpus / measures.gpus
    return Measures(gpus, share, days, measures.tier)
