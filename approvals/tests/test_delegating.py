"""Stand-ins: named by oneself, never passed on, ended by either side, and no way round a rule."""

from datetime import timedelta

import pytest

from accounts.models import Notification, Person
from accounts.tests import factories as people
from approvals import services
from approvals.errors import NothingToDecide, NotYours, OwnRequest
from approvals.models import Delegation, Vote
from approvals.policies import visible_to
from approvals.rules import Rule, StepRule
from approvals.selectors import delegations_of, waiting_of
from approvals.services import Ballot
from approvals.standing_in import past_delegations_of
from approvals.tests.wish import RULES, Cast, Wish, fresh_person, submit
from kernel import clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db


def name(principal: Person, other: Person, days: int = 14, starts_in: int = 0) -> Delegation:
    now = clock.now()
    return services.delegation_create(
        actor=principal,
        stand_in_id=other.pk,
        starts_at=now + timedelta(days=starts_in) if starts_in else None,
        ends_at=now + timedelta(days=days),
        reason="away",
    )


def test_a_stand_in_decides_and_the_vote_says_for_whom(wish: Wish, who: Cast) -> None:
    name(who.ada, who.kim)
    approval = submit(wish, who.lin)
    assert [line.on_behalf_of for line in waiting_of(fresh_person(who.kim))] == [who.ada.pk]
    services.approval_vote(actor=fresh_person(who.kim), approval_id=approval.pk, ballot=Ballot("approve"))
    vote = Vote.objects.get()
    assert (vote.person, vote.on_behalf_of) == (who.kim, who.ada)


def test_it_is_not_passed_on(wish: Wish, who: Cast) -> None:
    name(who.ada, who.dora)
    other = people.person("other")
    name(who.dora, other)
    submit(wish, who.lin)
    assert len(waiting_of(fresh_person(who.dora))) == 1
    assert waiting_of(fresh_person(other)) == []
    with pytest.raises(NothingToDecide):
        name(other, who.kim)


def test_one_that_has_not_begun_or_was_ended_gives_no_right(wish: Wish, who: Cast) -> None:
    name(who.ada, who.kim, starts_in=2)
    submit(wish, who.lin)
    assert waiting_of(fresh_person(who.kim)) == []
    row = name(who.bob, who.kim)
    assert len(waiting_of(fresh_person(who.kim))) == 1
    services.delegation_revoke(actor=who.kim, delegation_id=row.pk)
    assert waiting_of(fresh_person(who.kim)) == []


def test_only_those_it_is_about_and_admins_end_it_once(who: Cast) -> None:
    row = name(who.bob, who.kim)
    with pytest.raises(NotFound):
        services.delegation_revoke(actor=who.dora, delegation_id=row.pk)
    services.delegation_revoke(actor=who.ada, delegation_id=row.pk)
    with pytest.raises(Conflict):
        services.delegation_revoke(actor=who.bob, delegation_id=row.pk)
    assert [
        entry.action for entry in AuditEntry.objects.filter(subject_type="approvals.delegation").order_by("id")
    ] == [
        "delegation.created",
        "delegation.revoked",
    ]


def test_what_is_over_is_listed_apart(who: Cast) -> None:
    ended, live = name(who.bob, who.kim), name(who.bob, who.ada)
    services.delegation_revoke(actor=who.bob, delegation_id=ended.pk)
    assert list(delegations_of(who.bob, clock.now())) == [live]
    assert list(past_delegations_of(who.bob, clock.now())) == [ended]
    assert list(past_delegations_of(who.kim, clock.now())) == [ended]


@pytest.mark.parametrize("days", [0, -1])
def test_it_ends_after_it_begins(days: int, who: Cast) -> None:
    with pytest.raises(Invalid) as refused:
        name(who.bob, who.kim, days=days)
    assert list(refused.value.errors) == ["ends_at"]


def test_it_lasts_no_longer_than_five_years(who: Cast) -> None:
    with pytest.raises(Invalid) as refused:
        name(who.bob, who.kim, days=1831)
    assert list(refused.value.errors) == ["ends_at"]
    assert name(who.bob, who.kim, days=1829)


def test_nobody_names_oneself_a_program_or_somebody_who_left(who: Cast) -> None:
    gone, robot = people.deactivated("gone"), people.service_account("robot")
    for other in (who.bob, gone, robot):
        with pytest.raises(Invalid):
            name(who.bob, other)


def test_who_decides_nothing_names_nobody_and_so_keeps_nobody_from_deciding(wish: Wish, who: Cast) -> None:
    with pytest.raises(NothingToDecide):
        name(who.lin, who.ada)
    assert not Delegation.objects.exists()
    auditor = people.auditor()
    with pytest.raises(NothingToDecide):
        name(auditor, who.ada)


def test_whom_the_rules_in_force_name_has_something_to_stand_in_for(wish: Wish, who: Cast) -> None:
    named = (Rule("all", (StepRule(people=(who.lin.pk,)),)),)
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=named, seen=1, reason="a small team")
    assert name(who.lin, who.kim).stand_in == who.kim
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=RULES, seen=2, reason="as before")
    with pytest.raises(NothingToDecide):
        name(who.lin, who.kim)


def test_who_is_named_by_a_step_that_waits_has_something_to_stand_in_for(wish: Wish, who: Cast) -> None:
    named = (Rule("all", (StepRule(people=(who.lin.pk,)),)),)
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=named, seen=1, reason="a small team")
    approval = submit(wish, who.kim)
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=RULES, seen=2, reason="as before")
    assert name(who.lin, who.dora).stand_in == who.dora
    services.approval_vote(actor=fresh_person(who.dora), approval_id=approval.pk, ballot=Ballot("approve"))
    with pytest.raises(NothingToDecide):
        name(who.lin, who.ada)


def test_one_decision_is_handed_on_and_no_other(wish: Wish, who: Cast) -> None:
    one = submit(wish, who.lin)
    other = submit(wish, people.person("other"))
    services.approval_hand_on(actor=fresh_person(who.ada), approval_id=one.pk, to_id=who.kim.pk, comment="please")
    assert [line.approval for line in waiting_of(fresh_person(who.kim))] == [one]
    assert {line.approval for line in waiting_of(fresh_person(who.ada))} == {one, other}


def test_it_is_handed_to_nobody_on_the_other_side_and_by_nobody_in_anothers_right(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    wish.sides[who.lin.pk] = frozenset({who.kim.pk})
    with pytest.raises(OwnRequest):
        services.approval_hand_on(actor=fresh_person(who.ada), approval_id=approval.pk, to_id=who.kim.pk)
    other = people.person("other")
    name(who.ada, other)
    with pytest.raises(NotYours):
        services.approval_hand_on(actor=fresh_person(other), approval_id=approval.pk, to_id=who.dora.pk)


def test_the_same_decision_is_handed_to_the_same_person_once(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    rows = [
        services.approval_hand_on(actor=fresh_person(who.ada), approval_id=approval.pk, to_id=who.kim.pk)
        for _again in range(2)
    ]
    assert rows[0] == rows[1]
    assert Notification.objects.filter(topic="approvals.handed_on").count() == 1
    services.delegation_revoke(actor=who.ada, delegation_id=rows[0].pk)
    services.approval_hand_on(actor=fresh_person(who.ada), approval_id=approval.pk, to_id=who.kim.pk)
    assert Notification.objects.filter(topic="approvals.handed_on").count() == 2


def test_what_was_handed_on_without_an_end_ends_when_somebody_leaves(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    row = services.approval_hand_on(actor=fresh_person(who.ada), approval_id=approval.pk, to_id=who.kim.pk)
    named = (Rule("all", (StepRule(people=(who.kim.pk, who.bob.pk)),)),)
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=named, seen=1, reason="a small team")
    report = people.off_board(who.kim, actor=who.bob)
    assert {line["what"]: line["count"] for line in report.lines if line["room"] == "approvals"} == {
        "stand_ins": 1,
        "rules": 1,
    }
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_somebody_named_in_an_earlier_round_sees_nothing_of_the_next(wish: Wish, who: Cast) -> None:
    named = (Rule("all", (StepRule(people=(who.kim.pk, who.ada.pk)),)),)
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=named, seen=1, reason="a small team")
    approval = submit(wish, who.lin)
    assert visible_to(fresh_person(who.kim)).exists()
    services.approval_vote(actor=fresh_person(who.ada), approval_id=approval.pk, ballot=Ballot("return", comment="?"))
    services.policy_set(actor=fresh_person(who.ada), kind=wish.name, rules=RULES, seen=2, reason="as before")
    submit(wish, who.lin)
    assert not visible_to(fresh_person(who.kim)).exists()
