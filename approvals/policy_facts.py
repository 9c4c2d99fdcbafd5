"""What a list of policies shows: the version in force of every kind, and when somebody last found that it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals.kinds import Kind, kinds
from approvals.models import PolicyReview, PolicyVersion
from approvals.rules import Rule, Rules
from approvals.services import policy_in_force

REVIEWED_EVERY = timedelta(days=92)
"""A quarter: ELA4 asks for a look at the rules each quarter."""


@dataclass(frozen=True, slots=True)
class PolicyFact:
    """A kind with the rules in force. A new version counts as a look at them."""

    kind: Kind
    policy: PolicyVersion
    review: PolicyReview | None

    @property
    def looked_at(self) -> datetime:
        return max(self.policy.created_at, self.review.at) if self.review else self.policy.created_at

    def is_overdue(self, now: datetime) -> bool:
        return self.looked_at + REVIEWED_EVERY <= now

    @property
    def rules(self) -> Rules:
        return self.policy.parsed

    @property
    def automatic(self) -> Sequence[Rule]:
        """What is granted by itself."""
        return [rule for rule in self.rules if not rule.steps]


def policy_facts() -> list[PolicyFact]:
    """Of every kind, by label. Two statements, and one more for a kind whose first version was never written down."""
    newest, reviews = _newest(), _reviews()
    facts = [
        PolicyFact(kind, newest.get(kind.name) or policy_in_force(kind.name), reviews.get(kind.name))
        for kind in kinds()
    ]
    return sorted(facts, key=lambda fact: str(fact.kind.label).casefold())


def _newest() -> Mapping[str, PolicyVersion]:
    rows = PolicyVersion.objects.select_related("created_by").order_by("kind", "-number").distinct("kind")
    return {row.kind: row for row in rows}


def _reviews() -> Mapping[str, PolicyReview]:
    rows = PolicyReview.objects.select_related("by", "policy").order_by("policy__kind", "-at").distinct("policy__kind")
    return {row.policy.kind: row for row in rows}
