"""Votes and open approvals: what the database refuses by itself, whatever the service thinks."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Person
from approvals.models import Approval, Vote
from approvals.tests.wish import Cast, Wish, stand_in, submit
from kernel import clock

pytestmark = pytest.mark.django_db


def raw(approval: Approval, by: Person, **more: object) -> None:
    Vote.objects.create(
        approval=approval,
        step=approval.steps.get(),
        round=1,
        person=by,
        answer="approve",
        content="",
        version=2,
        **{"at": clock.now(), **more},
    )


@pytest.fixture
def waiting(wish: Wish, who: Cast) -> Approval:
    return submit(wish, who.lin, gpus=8)


def test_the_database_refuses_who_asked(waiting: Approval, who: Cast) -> None:
    with pytest.raises(IntegrityError, match="nobody votes on what they asked for"), transaction.atomic():
        raw(waiting, who.lin)


def test_the_database_refuses_a_vote_for_who_asked(waiting: Approval, who: Cast) -> None:
    with pytest.raises(IntegrityError, match="nobody votes on what they asked for"), transaction.atomic():
        raw(waiting, who.ada, on_behalf_of=who.lin)


def test_the_database_refuses_who_stands_in_for_who_asked(wish: Wish, who: Cast) -> None:
    stand_in(who.bob, who.kim)
    approval = submit(wish, who.bob, gpus=8)
    with pytest.raises(IntegrityError, match="stands in for the requester"), transaction.atomic():
        raw(approval, who.kim)


def test_the_database_refuses_a_second_vote_of_the_round(waiting: Approval, who: Cast) -> None:
    raw(waiting, who.ada)
    with pytest.raises(IntegrityError, match="vote_once"), transaction.atomic():
        raw(waiting, who.ada)


def test_the_database_keeps_a_vote_as_it_was_given(waiting: Approval, who: Cast) -> None:
    raw(waiting, who.ada)
    for change in ({"answer": "reject"}, {"person": who.bob}, {"at": datetime(2020, 1, 1, tzinfo=UTC)}):
        with pytest.raises(IntegrityError, match="stays as it was given"), transaction.atomic():
            Vote.objects.update(**change)
    with pytest.raises(IntegrityError, match="stays as it was given"), transaction.atomic():
        Vote.objects.all().delete()
    Vote.objects.update(lapsed_at=clock.now(), lapse_reason="the role was lost")
    with pytest.raises(IntegrityError, match="stays as it was given"), transaction.atomic():
        Vote.objects.update(lapsed_at=None)


def test_one_is_open_about_a_subject(waiting: Approval, wish: Wish, who: Cast) -> None:
    with pytest.raises(IntegrityError, match="approval_open_once"), transaction.atomic():
        Approval.objects.create(
            kind=waiting.kind,
            subject_id=waiting.subject_id,
            title="Again",
            requester=who.kim,
            content="",
            policy=waiting.policy,
            rule="rest",
            requested_at=clock.now(),
            submitted_at=clock.now(),
        )
