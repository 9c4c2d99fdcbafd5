"""The rules of a kind: what is a policy, who changes it, and what happens when two do."""

from dataclasses import replace

import pytest

from accounts.models import Person
from approvals import services
from approvals.errors import MeanwhileChanged
from approvals.models import PolicyReview, PolicyVersion
from approvals.rules import Rule, StepRule
from approvals.tests.wish import ADMIN, RULES, Cast, Wish, submit
from kernel.errors import Forbidden, Invalid
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db
REST = RULES[-1]


def put(by: Person, *rules: Rule, seen: int = 1, reason: str = "fewer clicks") -> PolicyVersion:
    return services.policy_set(actor=by, kind="wish", rules=rules, seen=seen, reason=reason)


def test_the_first_version_is_what_the_portal_comes_with(wish: Wish) -> None:
    first, again = services.policy_in_force("wish"), services.policy_in_force("wish")
    assert (first.pk, first.number, first.parsed, first.created_by) == (again.pk, 1, RULES, None)


def test_new_rules_decide_what_comes_and_leave_what_waits(wish: Wish, who: Cast) -> None:
    before = submit(wish, who.lin)
    new = put(who.ada, Rule("any", (ADMIN,), most_gpus=100), REST)
    assert (new.number, new.reason) == (2, "fewer clicks")
    assert submit(wish, who.kim).rule == "any"
    assert (before.policy.number, before.steps.count()) == (1, 2)
    entry = AuditEntry.objects.get(action="policy.set")
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["number"], entry.after["number"]) == (1, 2)


def test_only_an_admin_changes_rules(wish: Wish, who: Cast) -> None:
    for somebody in (who.dora, who.lin):
        with pytest.raises(Forbidden):
            put(somebody, REST)
        with pytest.raises(Forbidden):
            services.policy_review(actor=somebody, kind="wish", seen=1)


def test_of_two_who_change_one_version_the_second_is_told(wish: Wish, who: Cast) -> None:
    put(who.ada, REST)
    with pytest.raises(MeanwhileChanged) as refused:
        put(who.bob, REST)
    assert refused.value.data["version"] == 2
    assert str(who.ada) in refused.value.data["happened"][0]


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ((), "rules"),
        ((RULES[0],), "rules"),
        ((replace(REST, steps=()),), "rules"),
        ((REST, replace(REST, name="again")), "rules"),
        ((replace(RULES[0], name="rest"), REST), "rules.1"),
        ((replace(RULES[0], name=""), REST), "rules.0"),
        ((replace(RULES[0], most_share_percent=5.0), REST), "rules.0"),
        ((replace(REST, steps=(StepRule(("auditor",)),)),), "rules.0"),
        ((replace(REST, steps=(StepRule(),)),), "rules.0"),
        ((replace(REST, steps=(replace(ADMIN, answer_hours=0),)),), "rules.0"),
        ((replace(REST, steps=(StepRule((), (10**9,)),)),), "rules.0"),
    ],
)
def test_what_is_no_policy(rules: tuple[Rule, ...], field: str, wish: Wish, who: Cast) -> None:
    with pytest.raises(Invalid) as refused:
        put(who.ada, *rules)
    assert field in refused.value.errors
    assert PolicyVersion.objects.filter(kind="wish", number=2).count() == 0


def test_a_change_says_why(wish: Wish, who: Cast) -> None:
    with pytest.raises(Invalid) as refused:
        put(who.ada, REST, reason=" ")
    assert list(refused.value.errors) == ["reason"]


def test_a_review_is_on_record_and_of_the_version_in_force(wish: Wish, who: Cast) -> None:
    put(who.ada, REST)
    with pytest.raises(MeanwhileChanged):
        services.policy_review(actor=who.bob, kind="wish", seen=1)
    services.policy_review(actor=who.bob, kind="wish", seen=2, note=" looked at them ")
    review = PolicyReview.objects.get()
    assert (review.policy.number, review.by, review.note) == (2, who.bob, "looked at them")
    assert AuditEntry.objects.filter(action="policy.reviewed").count() == 1
