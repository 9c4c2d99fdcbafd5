"""The pages: what waits, many at once, what was decided, stand-ins."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval, Comment, Delegation, Vote
from approvals.services import Ballot
from approvals.states import ApprovalState
from approvals.tests.test_sweep import plain_person
from approvals.tests.wish import Cast, Wish, fresh, fresh_person, submit
from kernel import clock

pytestmark = pytest.mark.django_db


def get(by: Person, address: str, status: int = 200) -> str:
    answer = people.browser(by).get(address)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return unescape(answer.content.decode())


def titles(page: str) -> list[str]:
    """What the rows of the first table are called, in order."""
    return re.findall(r'<a data-open[^>]*title="([^"]*)"', page)


def vote(approval: Approval, by: Person, answer: str = "approve") -> None:
    comment = "" if answer == "approve" else "too many"
    services.approval_vote(actor=fresh_person(by), approval_id=approval.pk, ballot=Ballot(answer, None, None, comment))


def seen(*rows: Approval) -> list[str]:
    return [f"{row.pk}:{row.version}:{row.content}" for row in rows]


# --- the queue


def test_what_waits_for_me_is_grouped_by_answer_by_time(wish: Wish, who: Cast) -> None:
    late, today, later = submit(wish, who.lin), submit(wish, who.kim), submit(wish, who.bob)
    now = clock.now()
    Approval.objects.filter(pk=late.pk).update(due_at=now - timedelta(hours=3), submitted_at=now - timedelta(hours=30))
    Approval.objects.filter(pk=today.pk).update(due_at=now + timedelta(seconds=1))
    Approval.objects.filter(pk=later.pk).update(due_at=now + timedelta(days=30))
    page = get(who.ada, "/approvals")
    assert titles(page) == [late.title, today.title, later.title]
    groups = re.findall(r'scope="rowgroup"[^>]*><span class="[^"]*">([^<]*)<', page)
    assert (groups[0], groups[-1]) == ("Answer overdue", "Answer later")
    assert "<b>3</b> wait for you" in page
    assert "<b>1</b> overdue" in page
    assert "<b>1 d 6 h</b>" in page
    assert "You, director" in page


def test_the_tabs_count_truly(wish: Wish, who: Cast) -> None:
    mine, own, back, done = (submit(wish, person) for person in (who.lin, who.ada, who.kim, who.dora))
    vote(back, who.bob, "return")
    vote(done, who.bob, "reject")
    page = get(who.ada, "/approvals")
    counts = re.findall(r'<span class="count">(\d+)</span>', page)
    assert counts[:3] == ["1", "2"]
    assert titles(page) == [mine.title]
    assert titles(get(who.ada, "/approvals/others")) == [own.title, back.title]


def test_what_nobody_can_decide_is_flagged_first(wish: Wish, who: Cast) -> None:
    stuck, fine = submit(wish, who.lin), submit(wish, who.ada)
    everybody = (who.ada, who.bob, who.dora, who.dan)
    wish.sides[who.lin.pk] = frozenset(person.pk for person in everybody)
    page = get(who.ada, "/approvals/others")
    assert titles(page) == [stuck.title, fine.title]
    assert "Nobody can decide" in page


def test_what_fits_is_said_and_filtered(wish: Wish, who: Cast) -> None:
    fits, too_many, unknown = (
        submit(wish, who.lin, gpus=8),
        submit(wish, who.kim, gpus=64),
        submit(wish, who.bob, gpus=None),
    )
    page = get(who.ada, "/approvals")
    assert "8 of 40 free" in page
    assert "24 too many" in page
    assert "touches no guarantee" in page
    for value, row in (("yes", fits), ("no", too_many), ("none", unknown)):
        assert titles(get(who.ada, f"/approvals?fits={value}")) == [row.title]
    assert len(titles(get(who.ada, "/approvals?model=H100&kind=wish"))) == 3
    vote(too_many, who.ada, "reject")
    vote(unknown, who.ada, "reject")
    assert titles(get(who.ada, "/approvals?fits=no")) == []
    assert "Nothing fits these filters" in get(who.ada, "/approvals?fits=no")


def test_a_stand_in_reads_for_whom(wish: Wish, who: Cast) -> None:
    until = clock.now() + timedelta(days=2)
    services.delegation_create(actor=who.ada, stand_in_id=who.kim.pk, starts_at=None, ends_at=until, reason="away")
    submit(wish, who.lin)
    page = get(who.kim, "/approvals")
    assert f"for {who.ada}" in page


def test_who_has_nothing_to_decide_is_told_where_what_they_asked_stands(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    assert "Nothing waits for your decision" in get(who.lin, "/approvals")
    assert titles(get(who.lin, "/approvals/others")) == [approval.title]
    assert "Nothing waits for others" in get(who.kim, "/approvals/others")
    assert "Policies" not in get(who.lin, "/approvals")


def test_a_hundred_rows_cost_no_more_statements_than_two(wish: Wish, who: Cast) -> None:
    browser = people.browser(who.ada)
    for _number in range(2):
        submit(wish, plain_person())
    browser.get("/approvals")
    with CaptureQueriesContext(connection) as few:
        browser.get("/approvals")
    for _number in range(98):
        submit(wish, plain_person())
    with CaptureQueriesContext(connection) as many:
        page = browser.get("/approvals").content.decode()
    assert len(titles(page)) == 100
    assert len(many) <= len(few) <= 15, [query["sql"][:120] for query in many]


# --- many at once


def post(by: Person, answer: str, **body: Any) -> tuple[int, str]:
    reply = people.browser(by).post(f"/approvals/bulk/{answer}", body)
    return reply.status_code, unescape(reply.content.decode())


def test_nothing_is_done_by_looking(wish: Wish, who: Cast) -> None:
    row = submit(wish, who.lin, gpus=8)
    page = get(who.ada, f"/approvals/bulk/approve?ids={row.pk}:{row.version}")
    assert "1 would be approved" in page
    assert "it takes effect at once" in page
    assert "Together 8 GPUs more are guaranteed: 8 H100" in re.sub(r"\s+", " ", page)
    assert not Vote.objects.exists()


def test_a_preview_says_which_cannot_and_why(wish: Wish, who: Cast) -> None:
    first, second = submit(wish, who.lin, gpus=30), submit(wish, who.kim, gpus=20)
    stale, own, huge = submit(wish, who.dora), submit(wish, who.ada), submit(wish, who.bob, gpus=64)
    vote(stale, who.bob)
    wanted = "&".join(f"ids={row.pk}:1" for row in (first, second, stale, own, huge))
    page = get(who.ada, f"/approvals/bulk/approve?{wanted}&ids=999999")
    left_out = page[page.index('id="left-out"') : page.index('id="doing"')]
    assert f"{who.bob} approved it" in left_out
    assert "a request of their own" in left_out
    assert "64 more GPUs are asked for and 40 are free" in left_out
    assert "20 are asked for, 10 of 40 are left" in left_out
    assert "5 are left out" in page
    assert page.count('name="seen"') == 1


def test_the_selected_are_approved_and_what_changed_meanwhile_is_refused(wish: Wish, who: Cast) -> None:
    rows = [submit(wish, person, gpus=8) for person in (who.lin, who.kim, who.dora)]
    vote(rows[1], who.bob)
    Person.objects.filter(pk=who.dora.pk).update(display_name="Another name")
    status, page = post(who.ada, "approve", seen=seen(*rows))
    assert status == 200
    assert [fresh(row).state for row in rows] == [ApprovalState.APPROVED, ApprovalState.APPROVED, ApprovalState.WAITING]
    assert [vote.person for vote in Vote.objects.order_by("approval_id")] == [who.ada, who.bob]
    assert "<b>1</b> done" in page
    assert "<b>2</b> not done" in page
    assert "What is asked has changed" in page
    assert f"{who.bob} approved it" in page


def test_sending_the_same_again_decides_nothing_twice(wish: Wish, who: Cast) -> None:
    row = submit(wish, who.lin, gpus=8)
    post(who.ada, "approve", seen=seen(row))
    _status, page = post(who.ada, "approve", seen=seen(row))
    assert "<b>1</b> not done" in page
    assert len(wish.done) == 1


@pytest.mark.parametrize(("answer", "state"), [("reject", "rejected"), ("return", "returned")])
def test_a_refusal_of_many_says_why(answer: str, state: str, wish: Wish, who: Cast) -> None:
    rows = [submit(wish, person) for person in (who.lin, who.kim)]
    status, page = post(who.ada, answer, seen=seen(*rows))
    assert (status, "Say why" in page, page.count('name="seen"')) == (422, True, 2)
    post(who.ada, answer, seen=seen(*rows), comment="Not this month")
    assert [fresh(row).state for row in rows] == [state, state]


def test_a_comment_on_many_is_read_by_who_asked(wish: Wish, who: Cast) -> None:
    rows = [submit(wish, person) for person in (who.lin, who.kim)]
    post(who.ada, "comment", seen=seen(*rows), comment="After the meeting")
    assert list(Comment.objects.values_list("text", "is_private")) == [("After the meeting", False)] * 2


@pytest.mark.parametrize("wrong", ["x", "1:x", ":", "9" * 40])
def test_what_names_no_approval_is_refused(wrong: str, wish: Wish, who: Cast) -> None:
    get(who.ada, f"/approvals/bulk/approve?ids={wrong}", 422)
    assert post(who.ada, "approve", seen=[wrong])[0] == 422


def test_nothing_selected_is_no_decision(who: Cast) -> None:
    assert "Nothing is selected" in get(who.ada, "/approvals/bulk/approve")
    assert post(who.ada, "approve")[0] == 422


# --- decided


def test_what_was_decided_marks_what_was_automatic_and_can_be_listed_alone(wish: Wish, who: Cast) -> None:
    by_itself, refused = submit(wish, who.lin, gpus=4), submit(wish, who.kim)
    vote(refused, who.ada, "reject")
    page = get(who.ada, "/approvals/decided")
    assert titles(page) == [refused.title, by_itself.title]
    assert "automatic" in page
    assert titles(get(who.ada, "/approvals/decided?by=automatic")) == [by_itself.title]
    assert titles(get(who.ada, "/approvals/decided?by=people")) == [refused.title]
    assert titles(get(who.ada, "/approvals/decided?state=rejected&kind=wish")) == [refused.title]
    assert "Nothing fits these filters" in get(who.ada, "/approvals/decided?state=withdrawn")


# --- stand-ins

USERNAME = {"stand_in": "kim", "reason": "away", "ends_at": "2031-05-01T12:00"}


def test_the_usual_stand_in_lasts_two_weeks(who: Cast) -> None:
    answer = people.browser(who.ada).get("/approvals/delegations")
    until = answer.context["form"].initial["ends_at"]
    assert timedelta(days=13, hours=23) < until - clock.now() <= timedelta(days=14)


def test_a_stand_in_is_named_seen_by_both_and_ended_after_asking(who: Cast) -> None:
    browser = people.browser(who.ada)
    assert browser.post("/approvals/delegations", USERNAME).status_code == 302
    row = Delegation.objects.get()
    assert (row.principal, row.stand_in, row.reason) == (who.ada, who.kim, "away")
    assert str(who.ada) in get(who.kim, "/approvals/delegations")
    asked = get(who.kim, f"/approvals/delegations/{row.pk}/end")
    assert "End now" in asked
    assert Delegation.objects.get().revoked_at is None
    assert people.browser(who.kim).post(f"/approvals/delegations/{row.pk}/end").status_code == 302
    assert Delegation.objects.get().revoked_at is not None
    assert "1 is over" in get(who.ada, "/approvals/delegations")
    get(who.lin, f"/approvals/delegations/{row.pk}/end", 404)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"stand_in": "nobody-here"}, "stand_in"),
        ({"stand_in": "ada"}, "stand_in"),
        ({"reason": ""}, "reason"),
        ({"ends_at": "2001-01-01T00:00"}, "ends_at"),
        ({"ends_at": ""}, "ends_at"),
    ],
)
def test_what_is_wrong_stands_at_its_field(change: dict[str, str], field: str, who: Cast) -> None:
    answer = people.browser(who.ada).post("/approvals/delegations", {**USERNAME, **change})
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Delegation.objects.exists()
