"""Votes that no longer count: why, what becomes of their step, and what stays."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from accounts.models import Person, Role
from accounts.services import role_revoke
from approvals import services
from approvals.models import Vote
from approvals.states import ApprovalState
from approvals.tests.wish import Cast, Wish, fresh, stand_in, submit, vote
from kernel import clock

pytestmark = pytest.mark.django_db
S = ApprovalState


def test_a_vote_lapses_with_the_content_it_was_given_on(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada)
    Person.objects.filter(pk=who.lin.pk).update(display_name="Somebody else")
    vote(approval, who.dora)
    assert fresh(approval).state == S.WAITING
    lapsed = Vote.objects.get(lapsed_at__isnull=False)
    assert lapsed.person == who.ada
    vote(approval, who.bob)
    assert fresh(approval).state == S.APPROVED


def test_a_vote_lapses_when_its_giver_lost_the_role_and_the_step_is_decided_again(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada)
    role_revoke(actor=who.bob, person_id=who.ada.pk, role=Role.ADMIN)
    vote(approval, who.dora)
    assert (fresh(approval).state, wish.done) == (S.WAITING, [])
    assert Vote.objects.get(person=who.ada).lapsed_at is not None
    vote(approval, who.bob)
    assert fresh(approval).state == S.APPROVED
    assert wish.done == [(who.lin.pk, "approve", str(who.bob))]


def test_what_a_lapsed_vote_changed_is_no_longer_changed(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada, changes={"gpus": 1})
    assert fresh(approval).changes == {"gpus": 1}
    role_revoke(actor=who.bob, person_id=who.ada.pk, role=Role.ADMIN)
    services.votes_judge_again(who.ada.pk)
    assert fresh(approval).changes == {}
    vote(approval, who.bob, changes={"gpus": 30})
    vote(approval, who.dora)
    assert (fresh(approval).state, wish.granted) == (S.APPROVED, [30])


def test_what_a_later_vote_was_given_on_stays_when_the_earlier_one_lapses(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada, changes={"gpus": 20})
    role_revoke(actor=who.bob, person_id=who.ada.pk, role=Role.ADMIN)
    vote(approval, who.dora)
    assert (fresh(approval).state, fresh(approval).changes) == (S.WAITING, {"gpus": 20})
    vote(approval, who.bob)
    assert (fresh(approval).state, wish.granted) == (S.APPROVED, [20])


@pytest.mark.parametrize("how", ["joins the project", "stands in for who asked"])
def test_a_vote_lapses_when_its_giver_comes_to_the_side_of_who_asks(how: str, wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.bob)
    vote(approval, who.ada)
    if how == "joins the project":
        wish.sides[who.bob.pk] = frozenset({who.ada.pk})
    else:
        stand_in(who.bob, who.ada)
    vote(approval, who.dora)
    assert (fresh(approval).state, wish.done) == (S.WAITING, [])
    [lapsed] = Vote.objects.filter(lapsed_at__isnull=False)
    assert lapsed.person == who.ada and lapsed.lapse_reason == "right"


def test_a_vote_given_while_a_delegation_lasted_still_counts_after_it(
    wish: Wish, who: Cast, freeze: Callable[[datetime], None]
) -> None:
    stand_in(who.ada, who.kim)
    approval = submit(wish, who.lin)
    vote(approval, who.kim)
    freeze(clock.now() + timedelta(days=3))
    vote(approval, who.dora)
    assert fresh(approval).state == S.APPROVED
