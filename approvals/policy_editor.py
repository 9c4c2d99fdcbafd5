"""One policy being edited: its rows, what is wrong with them, and what they would have done."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.http import QueryDict

from accounts.models import Person
from approvals.kinds import Kind
from approvals.models import Approval, PolicyVersion
from approvals.policies import policy_writers
from approvals.policy_check import check_rules
from approvals.policy_form import RuleForm, Typed, rearranged, rows_of, rows_typed
from approvals.preview import LOOKED_AT, Comparison, Past, Way, compare
from approvals.rule_words import people_in
from approvals.rules import Rules, never_by_itself, written
from kernel.errors import Invalid


@dataclass(slots=True)
class Editor:
    """``policy``: the version that was opened. ``faults``: what is wrong with the rules as a whole."""

    kind: Kind
    policy: PolicyVersion
    asker: Person
    forms: list[RuleForm] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    rules: Rules | None = None

    def show(self, rows: Sequence[Typed]) -> None:
        """Rows to be typed in; nothing is judged yet."""
        self.forms = [self._form(at, len(rows), initial=row) for at, row in enumerate(rows)]

    def judge(self, data: QueryDict) -> None:
        """Rows that were sent. ``rules`` is set where they can be a policy; else each row says what is wrong."""
        count = len(rows_typed(data))
        self.forms = [self._form(at, count, data=data) for at in range(count)]
        if sum(not form.is_valid() for form in self.forms):
            return  # Every row was judged: each says what is wrong with it.
        rules = tuple(form.rule for form in self.forms)
        try:
            check_rules(self.kind, rules)
        except Invalid as refusal:
            self._note(refusal)
        else:
            self.rules = rules

    def arrange(self, data: QueryDict, act: str) -> None:
        """Rows moved, added or removed; what was typed stays."""
        self.show(rearranged(rows_typed(data), act))

    def open(self) -> None:
        """The rules in force."""
        rules = self.policy.parsed
        self.show(rows_of(rules, people_in(rules)))

    def _form(self, at: int, count: int, **options: Any) -> RuleForm:
        return RuleForm(
            kind=self.kind,
            old=self.policy.parsed,
            asker=self.asker,
            is_last=at == count - 1,
            prefix=f"rule-{at}",
            **options,
        )

    def _note(self, refusal: Invalid) -> None:
        for name, texts in refusal.errors.items():
            _rules, _dot, number = name.partition(".")
            if number.isdigit() and int(number) < len(self.forms):
                for text in texts:
                    self.forms[int(number)].add_error(None, text)
            else:
                self.faults += texts


def mark_of(rules: Rules) -> str:
    """Stands for exactly these rules: what is saved is what was looked at."""
    return hashlib.sha256(json.dumps(written(rules), sort_keys=True).encode()).hexdigest()[:32]


def compared(kind: Kind, rules: Rules, now: datetime) -> Comparison:
    """What these rules would have done to every request of this kind of the last 30 days. Three statements."""
    rows = Approval.objects.filter(kind=kind.name, submitted_at__gte=now - LOOKED_AT).select_related("policy")
    writers = policy_writers()
    return compare(rules, [_past(row, row.requester_id in writers) for row in rows.order_by("-submitted_at", "-pk")])


def _past(row: Approval, is_strict: bool) -> Past:
    """As its own version of the rules had it; what a person had to decide though the rules would not, for who asked."""
    rules = row.policy.parsed if row.is_automatic else never_by_itself(row.policy.parsed)
    was = next((Way.of(rule) for rule in rules if rule.name == row.rule), Way(row.rule))
    return Past(row.pk, row.title, row.measured, was, is_strict)
