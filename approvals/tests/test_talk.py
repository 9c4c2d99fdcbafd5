"""Comments: everybody who may see an approval talks; private notes are for those who decide, never for who asked."""

from datetime import timedelta

import pytest

from accounts.models import Notification, Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval
from approvals.selectors import talk_of
from approvals.services import Ballot
from approvals.tests.wish import Cast, Wish, fresh_person, submit
from kernel import clock
from kernel.errors import Forbidden, Invalid, NotFound

pytestmark = pytest.mark.django_db


def say(approval: Approval, by: Person, text: str = "Would 20 do?", *, is_private: bool = False) -> None:
    services.approval_comment(actor=fresh_person(by), approval_id=approval.pk, text=text, is_private=is_private)


def read(approval: Approval, by: Person) -> list[str]:
    return [comment.text for comment in talk_of(fresh_person(by), approval)]


def test_private_notes_are_read_by_those_who_decide(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    say(approval, who.ada, "In the open")
    say(approval, who.ada, "Between us", is_private=True)
    assert read(approval, who.dora) == ["In the open", "Between us"]
    assert read(approval, people.auditor()) == ["In the open", "Between us"]
    assert read(approval, who.lin) == ["In the open"]


def test_an_admin_who_asked_reads_and_writes_no_private_note(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.ada)
    say(approval, who.bob, "Between us", is_private=True)
    assert read(approval, who.ada) == []
    with pytest.raises(Forbidden):
        say(approval, who.ada, is_private=True)
    assert not Notification.objects.filter(topic="approvals.commented", person=who.ada).exists()


def test_who_asked_writes_no_private_note_and_a_stranger_nothing(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    with pytest.raises(Forbidden):
        say(approval, who.lin, is_private=True)
    with pytest.raises(NotFound):
        say(approval, who.kim)


def test_a_comment_says_something(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    for text in ("", "  ", "x" * 2001):
        with pytest.raises(Invalid):
            say(approval, who.lin, text)


def test_those_who_take_part_are_told(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    say(approval, who.ada)
    say(approval, who.lin, "Yes")
    rows = Notification.objects.filter(topic="approvals.commented").order_by("pk")
    assert [row.person for row in rows] == [who.lin, who.ada]


def test_who_is_on_the_side_of_who_asks_reads_no_private_note(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    wish.sides[who.lin.pk] = frozenset({who.ada.pk})
    say(approval, who.bob, "Between us", is_private=True)
    assert read(approval, who.ada) == []
    with pytest.raises(Forbidden):
        say(approval, who.ada, is_private=True)


def test_who_may_no_longer_know_of_it_hears_nothing_more(wish: Wish, who: Cast) -> None:
    until = clock.now() + timedelta(days=2)
    row = services.delegation_create(actor=who.ada, stand_in_id=who.kim.pk, starts_at=None, ends_at=until)
    approval = submit(wish, who.lin)
    say(approval, who.kim, "For Ada")
    say(approval, who.lin, "Yes")
    services.delegation_revoke(actor=who.kim, delegation_id=row.pk)
    say(approval, who.lin, "And one more thing")
    heard = Notification.objects.filter(topic="approvals.commented", person=who.kim)
    assert [row.words["comment"] for row in heard] == ["Yes"]


def test_a_question_that_was_answered_asks_nobody_any_more(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    ballot = Ballot("return", comment="Which data?")
    services.approval_vote(actor=fresh_person(who.ada), approval_id=approval.pk, ballot=ballot)
    unread = Notification.objects.filter(topic="approvals.returned", person=who.lin, read_at__isnull=True)
    assert unread.count() == 1
    submit(wish, who.lin)
    assert not unread.exists()
