"""Votes: who may give one, on what, and what follows."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from accounts.models import Person, Role
from accounts.services import role_revoke
from accounts.tests import factories as people
from approvals import services
from approvals.errors import AlreadyOpen, CannotTell, ContentDiffers, MeanwhileChanged, NotYours, OwnRequest
from approvals.models import Answer, Approval, Step, Vote
from approvals.selectors import waiting_of
from approvals.services import Ballot
from approvals.states import APPROVAL, ApprovalState
from approvals.tests.wish import GRANTED, Cast, Wish, fresh, fresh_person, stand_in, submit, vote, withdraw
from kernel import clock
from kernel.errors import Conflict, Forbidden, IllegalTransition, Invalid, NotFound, Unauthenticated
from kernel.models import AuditEntry, StateChange

pytestmark = pytest.mark.django_db
S = ApprovalState


def in_state(state: str, wish: Wish, who: Cast) -> Approval:
    """An approval that got into this state as in life."""
    approval = submit(wish, who.lin)
    if state in (S.APPROVED, S.REJECTED, S.RETURNED):
        answer = {S.APPROVED: "approve", S.REJECTED: "reject", S.RETURNED: "return"}[S(state)]
        vote(approval, who.ada, answer)
        if state == S.APPROVED:
            vote(approval, who.dora)
    elif state == S.WITHDRAWN:
        withdraw(approval, who.lin)
    return fresh(approval)


def act(event: str, approval: Approval, wish: Wish, who: Cast) -> None:
    if event in Answer.values:
        vote(approval, who.bob, event)
    elif event == "withdraw":
        withdraw(approval, who.lin)
    else:
        submit(wish, who.lin)


@pytest.mark.parametrize("state", S.values)
@pytest.mark.parametrize("event", ["approve", "reject", "return", "withdraw", "submit"])
def test_every_pair_of_state_and_event(state: str, event: str, wish: Wish, who: Cast) -> None:
    """What the table allows happens; anything else is refused by name and changes nothing."""
    approval = in_state(state, wish, who)
    target = APPROVAL.table.get((state, event))
    if state == S.WAITING and event == "approve":
        target = S.WAITING  # the first of two steps
    if event == "submit" and state not in (S.WAITING, S.RETURNED):
        act(event, approval, wish, who)  # what is over is asked anew, as another approval
        assert Approval.objects.count() == 2
        target = state
    elif target is None:
        with pytest.raises((MeanwhileChanged, IllegalTransition, AlreadyOpen)):
            act(event, approval, wish, who)
        target = state
    else:
        act(event, approval, wish, who)
    assert fresh(approval).state == target


def test_two_steps_by_two_people_carry_it_out(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    assert (approval.rule, approval.state) == ("rest", S.WAITING)
    vote(approval, who.ada)
    assert wish.done == []
    vote(approval, who.dora)
    assert fresh(approval).state == S.APPROVED
    assert wish.done == [(who.lin.pk, "approve", str(who.dora))]
    assert fresh_person(who.lin).display_name.endswith(GRANTED)
    assert [change.event for change in StateChange.objects.filter(machine="approval").order_by("id")] == [
        "pass",
        "approve",
    ]
    acts = AuditEntry.objects.filter(subject_type="approvals.approval").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["approval.submitted", "approval.voted", "approval.voted", "approval.approved"]


def test_what_the_policy_grants_is_granted_at_once_and_marked(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=4)
    assert (approval.state, approval.is_automatic, approval.rule) == (S.APPROVED, True, "small")
    assert fresh_person(who.lin).display_name.endswith(GRANTED)
    assert not Step.objects.filter(approval=approval).exists()


def test_what_cannot_be_measured_is_never_granted_by_a_bound(wish: Wish, who: Cast) -> None:
    assert submit(wish, who.lin, gpus=4, days=None).rule == "middle"
    assert submit(wish, who.kim, gpus=None).rule == "rest"


@pytest.mark.parametrize("answer", ["reject", "return"])
def test_a_refusal_needs_a_reason(answer: str, wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    with pytest.raises(Invalid):
        vote(approval, who.ada, answer, comment="  ")
    assert not Vote.objects.exists()


def test_who_asked_never_votes(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.ada)
    with pytest.raises(OwnRequest):
        vote(approval, who.ada)


def test_who_stands_in_for_who_asked_never_votes(wish: Wish, who: Cast) -> None:
    stand_in(who.bob, who.ada)
    approval = submit(wish, who.bob)
    with pytest.raises(OwnRequest):
        vote(approval, who.ada)


def test_who_asked_does_not_vote_for_a_principal_either(wish: Wish, who: Cast) -> None:
    stand_in(who.ada, who.lin)
    approval = submit(wish, who.lin)
    with pytest.raises(OwnRequest):
        vote(approval, who.lin)


def test_a_stand_in_of_the_requester_does_not_vote_for_another_principal(wish: Wish, who: Cast) -> None:
    stand_in(who.bob, who.kim)
    stand_in(who.ada, who.kim)
    approval = submit(wish, who.bob)
    with pytest.raises(OwnRequest):
        vote(approval, who.kim)


def test_who_voted_in_an_earlier_step_does_not_vote_in_a_later_one(wish: Wish, who: Cast) -> None:
    both = people.person("both", Role.ADMIN, Role.DIRECTOR)
    approval = submit(wish, who.lin)
    vote(approval, both)
    with pytest.raises(OwnRequest, match="earlier step"):
        vote(approval, both)


def test_for_whom_somebody_voted_does_not_vote_in_a_later_step(wish: Wish, who: Cast) -> None:
    both = people.person("both", Role.ADMIN, Role.DIRECTOR)
    stand_in(both, who.kim)
    approval = submit(wish, who.lin)
    vote(approval, who.kim)
    assert Vote.objects.get().on_behalf_of == both
    with pytest.raises(OwnRequest, match="earlier step"):
        vote(approval, both)


def test_the_projects_side_does_not_vote(wish: Wish, who: Cast) -> None:
    wish.sides[who.lin.pk] = frozenset({who.ada.pk})
    approval = submit(wish, who.lin)
    with pytest.raises(OwnRequest):
        vote(approval, who.ada)
    vote(approval, who.bob)


def test_somebody_deactivated_does_not_vote(wish: Wish, who: Cast) -> None:
    approval, before = submit(wish, who.lin), fresh_person(who.ada)
    people.off_board(who.ada, actor=who.bob)
    for stale in (before, fresh_person(who.ada)):
        with pytest.raises(Unauthenticated):
            services.approval_vote(actor=stale, approval_id=approval.pk, ballot=Ballot("approve"))


def test_a_program_does_not_vote(wish: Wish, who: Cast) -> None:
    robot = people.service_account("robot")
    approval = submit(wish, who.lin)
    Step.objects.update(people=[robot.pk])
    with pytest.raises(NotYours):
        vote(approval, robot)


def test_who_holds_no_role_is_refused_and_a_stranger_finds_nothing(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    with pytest.raises(Forbidden):
        vote(approval, who.dan)
    with pytest.raises(NotFound):
        vote(approval, who.kim)


def test_nothing_is_decided_where_a_side_cannot_be_told(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    wish.fails_side_of = {who.lin.pk}
    with pytest.raises(CannotTell):
        vote(approval, who.ada)
    assert fresh(approval).state == S.WAITING
    assert not Vote.objects.exists()


def test_an_older_page_decides_nothing(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    seen = approval.version
    vote(approval, who.ada, version=seen)
    with pytest.raises(MeanwhileChanged) as refused:
        vote(approval, who.dora, version=seen)
    assert [str(who.ada) in line for line in refused.value.data["happened"]] == [True]
    assert fresh(approval).state == S.WAITING


def test_the_same_answer_twice_counts_once(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=8)
    vote(approval, who.ada, version=approval.version)
    with pytest.raises(MeanwhileChanged):
        vote(approval, who.ada, version=approval.version)
    assert len(wish.done) == 1


def test_other_content_than_was_looked_at_is_refused(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    Person.objects.filter(pk=who.lin.pk).update(display_name="Somebody else")
    with pytest.raises(ContentDiffers) as refused:
        vote(approval, who.ada, seen=approval.content)
    assert refused.value.data["changed"] == ["name"]


def test_the_hash_of_the_content_alone_does_not_decide_on_what_was_changed(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada, changes={"gpus": 20})
    with pytest.raises(MeanwhileChanged):
        vote(approval, who.dora, seen=approval.content)
    vote(approval, who.dora, seen=approval.content, version=fresh(approval).version)
    assert wish.granted == [20]


@pytest.mark.parametrize("answer", ["reject", "return"])
def test_only_an_approval_changes_what_is_granted(answer: str, wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    with pytest.raises(Invalid) as refused:
        vote(approval, who.ada, answer, changes={"gpus": 1})
    assert list(refused.value.errors) == ["changes"]


def test_who_stands_in_for_the_projects_people_does_not_vote(wish: Wish, who: Cast) -> None:
    wish.sides[who.lin.pk] = frozenset({who.dora.pk})
    stand_in(who.dora, who.ada)
    approval = submit(wish, who.lin)
    with pytest.raises(OwnRequest):
        vote(approval, who.ada)


def test_more_at_stake_at_the_end_appends_the_missing_step(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=8)
    assert approval.rule == "middle"
    wish.asked[who.lin.pk] = wish.asked[who.lin.pk].__class__(gpus=64, days=10)
    vote(approval, who.ada)
    assert (fresh(approval).state, wish.done) == (S.WAITING, [])
    assert [(step.number, step.roles) for step in approval.steps.all()] == [(0, ["admin"]), (1, ["director"])]
    vote(approval, who.dora)
    assert fresh(approval).state == S.APPROVED


def test_asked_back_and_submitted_again_starts_the_path_anew(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada)
    vote(approval, who.dora, "return")
    assert (fresh(approval).state, fresh(approval).due_at) == (S.RETURNED, None)
    again = submit(wish, who.lin, gpus=8)
    assert (again.pk, again.round, again.state, again.rule) == (approval.pk, 2, S.WAITING, "middle")
    vote(approval, who.ada)
    assert fresh(approval).state == S.APPROVED


def test_what_cannot_be_carried_out_counts_no_vote(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=8)
    wish.fails = True
    with pytest.raises(Conflict, match="nothing is free"):
        vote(approval, who.ada)
    assert not Vote.objects.exists()
    assert fresh(approval).version == approval.version


def test_changes_ask_for_less_and_reach_the_act(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    with pytest.raises(Invalid):
        vote(approval, who.ada, changes={"gpus": 99})
    vote(approval, who.ada, changes={"gpus": 20})
    vote(approval, who.dora)
    assert fresh(approval).changes == {"gpus": 20}


def test_one_whose_side_cannot_be_told_is_nobodys_and_hides_no_other(wish: Wish, who: Cast) -> None:
    broken, other = submit(wish, who.lin), submit(wish, who.kim)
    vote(broken, who.ada)
    wish.fails_side_of = {who.lin.pk}
    assert [line.approval for line in waiting_of(fresh_person(who.bob))] == [other]
    services.sweep()
    assert not Vote.objects.filter(lapsed_at__isnull=False).exists()
    wish.fails_side_of = set()
    vote(broken, who.dora)
    assert fresh(broken).state == S.APPROVED


def test_an_older_page_hears_what_came_after_it_and_nothing_before(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    vote(approval, who.ada, "return")
    again = submit(wish, who.lin)
    vote(again, who.ada)
    with pytest.raises(MeanwhileChanged) as refused:
        vote(again, who.dora, version=again.version)
    [line] = refused.value.data["happened"]
    assert str(who.ada) in line
    seen = fresh(again).version
    role_revoke(actor=who.bob, person_id=who.ada.pk, role=Role.ADMIN)
    services.votes_judge_again(who.ada.pk)
    with pytest.raises(MeanwhileChanged) as refused:
        vote(again, who.dora, version=seen)
    [line] = refused.value.data["happened"]
    assert "a vote no longer counts" in line and "without the role" in line


def test_one_whose_side_cannot_be_told_holds_up_no_other(wish: Wish, who: Cast) -> None:
    broken, other = submit(wish, who.lin, gpus=8), submit(wish, who.kim, gpus=8)
    wish.fails_side_of = {who.lin.pk}
    votes = [(row.pk, Ballot("approve")) for row in (broken, other)]
    verdicts = services.approvals_vote_many(actor=fresh_person(who.ada), votes=votes)
    assert [bool(verdict.refused) for verdict in verdicts] == [True, False]


def test_many_at_once_are_each_counted_or_refused(wish: Wish, who: Cast) -> None:
    mine, own = submit(wish, who.lin, gpus=8), submit(wish, who.ada, gpus=8)
    stale = submit(wish, who.kim, gpus=8)
    votes = [(mine.pk, Ballot("approve", 1)), (own.pk, Ballot("approve", 1)), (stale.pk, Ballot("approve", 0))]
    verdicts = services.approvals_vote_many(actor=fresh_person(who.ada), votes=[*votes, (10**9, Ballot("approve"))])
    assert [bool(one.refused) for one in verdicts] == [False, True, True, True]
    assert [fresh(row).state for row in (mine, own, stale)] == [S.APPROVED, S.WAITING, S.WAITING]


def test_a_delegation_that_is_over_gives_no_right(wish: Wish, who: Cast, freeze: Callable[[datetime], None]) -> None:
    stand_in(who.ada, who.kim)
    approval = submit(wish, who.lin)
    freeze(clock.now() + timedelta(days=3))
    with pytest.raises(NotFound):
        vote(approval, who.kim)
