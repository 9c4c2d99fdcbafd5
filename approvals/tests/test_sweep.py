"""Reminders, escalation, whom a step falls to: once each, and one that fails keeps no other."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Notification, Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval
from approvals.services import Ballot
from approvals.tests.wish import Cast, Wish, fresh_person, submit
from kernel import clock

pytestmark = pytest.mark.django_db
Freeze = Callable[[datetime], None]


def told(topic: str) -> list[tuple[str, int]]:
    """Who was told under a topic, and how often."""
    rows = Notification.objects.filter(topic=f"approvals.{topic}").order_by("person__username")
    names = [row.person.username for row in rows.select_related("person")]
    return [(name, names.count(name)) for name in dict.fromkeys(names)]


def step_of(approval: Approval) -> Any:
    return approval.steps.get(number=0)


def test_whoever_may_decide_is_told_once(wish: Wish, who: Cast) -> None:
    submit(wish, who.lin)
    services.sweep()
    services.sweep()
    assert told("waiting") == [("ada", 1), ("bob", 1)]
    assert told("overdue") == []


def test_a_step_that_waits_again_is_told_again(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    services.approval_vote(actor=fresh_person(who.ada), approval_id=approval.pk, ballot=Ballot("approve"))
    assert not Notification.objects.filter(person=who.bob, topic="approvals.waiting", read_at__isnull=True).exists()
    Person.objects.filter(pk=who.ada.pk).update(is_active=False)
    services.approval_vote(actor=fresh_person(who.dora), approval_id=approval.pk, ballot=Ballot("approve"))
    assert step_of(approval).passed_at is None
    assert Notification.objects.filter(person=who.bob, topic="approvals.waiting", read_at__isnull=True).count() == 1
    services.sweep()
    assert told("waiting")[1] == ("bob", 2)


def test_what_falls_to_others_before_its_time_is_not_called_late(wish: Wish, who: Cast, freeze: Freeze) -> None:
    approval = submit(wish, who.lin)
    wish.sides[who.lin.pk] = frozenset({who.ada.pk, who.bob.pk})
    services.sweep()
    assert step_of(approval).escalated_at is not None
    assert (told("overdue"), told("waiting")[2:]) == ([], [("dan", 1), ("dora", 1)])
    freeze(clock.now() + timedelta(hours=25))
    for _again in range(2):
        services.sweep()
    assert told("overdue") == [("dan", 1), ("dora", 1)]


def test_reminders_come_once_when_the_answer_is_due(wish: Wish, who: Cast, freeze: Freeze) -> None:
    approval = submit(wish, who.lin)
    freeze(clock.now() + timedelta(hours=25))
    for _again in range(2):
        services.sweep()
    assert told("overdue") == [("ada", 1), ("bob", 1)]
    assert step_of(approval).reminded_at is not None
    assert step_of(approval).escalated_at is None


def test_after_as_long_again_others_may_decide_too(wish: Wish, who: Cast, freeze: Freeze) -> None:
    approval = submit(wish, who.lin)
    freeze(clock.now() + timedelta(hours=49))
    for _again in range(2):
        services.sweep()
    assert step_of(approval).escalated_at is not None
    assert told("waiting") == [("ada", 1), ("bob", 1), ("dan", 1), ("dora", 1)]
    services.approval_vote(actor=fresh_person(who.dora), approval_id=approval.pk, ballot=Ballot("approve"))
    assert step_of(approval).passed_at is not None


def test_where_one_leaves_the_step_falls_to_the_others(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    people.off_board(who.ada, actor=who.bob)
    services.sweep()
    services.approval_vote(actor=fresh_person(who.bob), approval_id=approval.pk, ballot=Ballot("approve"))
    assert step_of(approval).passed_at is not None


def test_where_nobody_is_left_it_escalates_at_once(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    wish.sides[who.lin.pk] = frozenset({who.ada.pk, who.bob.pk})
    services.sweep()
    assert step_of(approval).escalated_at is not None
    assert told("waiting") == [("ada", 1), ("bob", 1), ("dan", 1), ("dora", 1)]
    assert told("unroutable") == []


def test_where_nobody_at_all_can_decide_the_admins_hear_of_it_once(wish: Wish, who: Cast) -> None:
    submit(wish, who.lin)
    everybody = (who.ada, who.bob, who.dora, who.dan)
    wish.sides[who.lin.pk] = frozenset(person.pk for person in everybody)
    services.sweep()
    services.sweep()
    assert told("unroutable") == [("ada", 1), ("bob", 1)]


def test_a_stand_in_is_told_when_a_step_falls_to_them(wish: Wish, who: Cast) -> None:
    submit(wish, who.lin)
    until = clock.now() + timedelta(days=2)
    services.delegation_create(actor=who.ada, stand_in_id=who.kim.pk, starts_at=None, ends_at=until, reason="away")
    services.sweep()
    assert told("waiting") == [("ada", 1), ("bob", 1), ("kim", 1)]


def test_one_that_fails_keeps_no_other(wish: Wish, who: Cast, freeze: Freeze) -> None:
    wish.side_fault = RuntimeError
    broken, fine = submit(wish, who.lin), submit(wish, who.kim)
    wish.fails_side_of = {who.lin.pk}
    freeze(clock.now() + timedelta(hours=25))
    services.sweep()
    assert step_of(fine).reminded_at is not None
    assert step_of(broken).reminded_at is None


def test_a_hundred_cost_as_many_statements_as_two(wish: Wish, who: Cast, freeze: Freeze) -> None:
    for _number in range(2):
        submit(wish, people.person())
    with CaptureQueriesContext(connection) as few:
        services.sweep()
    for _number in range(98):
        submit(wish, plain_person())
    services.sweep()
    freeze(clock.now() + timedelta(hours=1))
    with CaptureQueriesContext(connection) as many:
        assert services.sweep() == 100
    assert len(many) <= len(few)


def plain_person() -> Person:
    """Somebody who asks, without the services' care: a hundred of them."""
    number = Person.objects.count()
    return Person.objects.create(username=f"asker-{number}", display_name=f"Asker {number}")


def test_a_vote_of_who_came_to_the_other_side_lapses_without_another_vote(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    services.approval_vote(actor=fresh_person(who.ada), approval_id=approval.pk, ballot=Ballot("approve"))
    wish.sides[who.lin.pk] = frozenset({who.ada.pk})
    services.sweep()
    assert step_of(approval).passed_at is None
    assert told("waiting") == [("ada", 1), ("bob", 2), ("dan", 1), ("dora", 1)]
