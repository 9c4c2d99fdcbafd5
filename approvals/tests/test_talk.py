"""Comments: everybody who may see an approval talks; private notes are for those who decide, never for who asked."""

import pytest

from accounts.models import Notification, Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval
from approvals.selectors import talk_of
from approvals.tests.wish import Cast, Wish, fresh_person, submit
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
