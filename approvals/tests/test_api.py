"""The API: what waits, votes with their version, comments, stand-ins, policies."""

from typing import Any

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval, Comment, Delegation
from approvals.rules import read
from approvals.states import ApprovalState
from approvals.tests.wish import RULES, Cast, Wish, fresh, submit

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/approvals"


def call(by: Person, method: str, path: str, body: Any = None, **headers: str) -> Any:
    return getattr(people.api_client(by), method)(path, body, format="json", **headers)


def ids(by: Person, query: str = "") -> list[int]:
    return [row["id"] for row in call(by, "get", f"{ROOT}/{query}").json()["results"]]


def test_what_waits_for_whom(wish: Wish, who: Cast) -> None:
    mine, own, done = submit(wish, who.lin), submit(wish, who.ada), submit(wish, who.kim, gpus=4)
    assert ids(who.ada, "?waiting=me") == [mine.pk]
    assert ids(who.ada, "?waiting=others") == [own.pk]
    assert ids(who.ada, "?waiting=decided") == [done.pk]
    assert ids(who.ada) == [done.pk, own.pk, mine.pk]
    assert ids(who.lin) == [mine.pk]
    assert ids(who.ada, "?kind=other") == []
    assert ids(who.ada, "?state=approved&is_automatic=true") == [done.pk]
    assert call(who.ada, "get", f"{ROOT}/?waiting=nobody").status_code == 422


def test_one_whole_with_its_path_and_who_may_decide(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    call(who.ada, "post", f"{ROOT}/{approval.pk}/approve", {"comment": "yes", "version": 1})
    shown = call(who.lin, "get", f"{ROOT}/{approval.pk}/").json()
    assert (shown["state"], shown["version"], shown["content"]) == ("waiting", 2, approval.content)
    assert shown["deciders"] == ["dora", "dan"]
    assert [(step["roles"], [vote["person"] for vote in step["votes"]]) for step in shown["steps"]] == [
        (["admin"], ["ada"]),
        (["director"], []),
    ]


@pytest.mark.parametrize(("act", "state"), [("approve", "approved"), ("reject", "rejected"), ("return", "returned")])
def test_each_answer(act: str, state: str, wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=8)
    answer = call(who.ada, "post", f"{ROOT}/{approval.pk}/{act}", {"comment": "because", "version": 1})
    assert (answer.status_code, answer.json()["state"]) == (200, state)


def test_an_older_version_is_a_conflict_that_says_what_happened(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    call(who.ada, "post", f"{ROOT}/{approval.pk}/approve", {"version": 1})
    answer = call(who.dora, "post", f"{ROOT}/{approval.pk}/approve", {"version": 1})
    assert answer.status_code == 409
    assert (answer.json()["code"], answer.json()["version"]) == ("changed_meanwhile", 2)
    assert str(who.ada) in answer.json()["happened"][0]


def test_other_content_is_a_conflict(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    answer = call(who.ada, "post", f"{ROOT}/{approval.pk}/approve", {"seen": "something else"})
    assert (answer.status_code, answer.json()["changed"]) == (409, ["name"])


def test_changes_grant_less(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    for changes, status in (({"gpus": 99}, 422), ({"gpus": 20}, 200)):
        assert call(who.ada, "post", f"{ROOT}/{approval.pk}/approve", {"changes": changes}).status_code == status
    assert fresh(approval).changes == {"gpus": 20}


def test_a_stranger_finds_nothing_and_a_member_without_the_right_is_refused(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    for path in ("approve", "reject", "return", "delegate", "comments"):
        assert call(who.kim, "post", f"{ROOT}/{approval.pk}/{path}", {}).status_code == 404
    for act in ("approve", "reject", "return"):
        answer = call(who.lin, "post", f"{ROOT}/{approval.pk}/{act}", {"comment": "mine"})
        assert (answer.status_code, answer.json()["code"]) == (403, "own_request")
    assert call(who.kim, "get", f"{ROOT}/{approval.pk}").status_code == 404
    assert fresh(approval).state == ApprovalState.WAITING


def test_the_same_key_votes_once(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin, gpus=8)
    client = people.api_client(who.ada)
    first, again = (
        client.post(f"{ROOT}/{approval.pk}/approve", {}, format="json", headers={"Idempotency-Key": "one"})
        for _again in range(2)
    )
    assert (first.status_code, again.status_code, again.headers["Idempotent-Replay"]) == (200, 200, "true")
    assert len(wish.done) == 1


def test_a_decision_is_handed_on(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    address = f"{ROOT}/{approval.pk}/delegate"
    assert call(who.ada, "post", address, {"changes": {}}).status_code == 422
    answer = call(who.ada, "post", address, {"changes": {"to": who.kim.pk}, "comment": "please", "version": 1})
    assert answer.status_code == 200
    assert "kim" in answer.json()["deciders"]
    assert Delegation.objects.get().approval == approval


def test_comments_are_read_by_those_who_may(wish: Wish, who: Cast) -> None:
    approval = submit(wish, who.lin)
    address = f"{ROOT}/{approval.pk}/comments/"
    assert call(who.ada, "post", address, {"text": "Between us", "is_private": True}).status_code == 201
    assert call(who.lin, "post", address, {"text": "Mine", "is_private": True}).status_code == 403
    assert call(who.lin, "post", address, {"text": "In the open"}).status_code == 201
    read = {by: [row["text"] for row in call(by, "get", address).json()["results"]] for by in (who.lin, who.bob)}
    assert read == {who.lin: ["In the open"], who.bob: ["Between us", "In the open"]}
    assert [row["text"] for row in call(who.lin, "get", f"{ROOT}/{approval.pk}").json()["comments"]] == ["In the open"]
    assert Comment.objects.count() == 2


def test_stand_ins_are_made_listed_and_revoked(who: Cast) -> None:
    body = {"stand_in": who.kim.pk, "ends_at": "2031-05-01T00:00:00Z", "reason": "away"}
    made = call(who.ada, "post", "/api/v1/delegations/", body)
    assert (made.status_code, made.json()["stand_in"], made.json()["principal"]) == (201, "kim", "ada")
    for by, count in ((who.ada, 1), (who.kim, 1), (who.lin, 0)):
        assert call(by, "get", "/api/v1/delegations").json()["count"] == count
    address = f"/api/v1/delegations/{made.json()['id']}/revoke"
    assert call(who.lin, "post", address).status_code == 404
    assert call(who.ada, "post", address).json()["revoked_at"] is not None
    assert call(who.ada, "post", address).status_code == 409
    assert call(who.ada, "post", "/api/v1/delegations", {**body, "ends_at": "2001-01-01T00:00:00Z"}).status_code == 422


def test_policies_are_read_put_and_reviewed(wish: Wish, who: Cast) -> None:
    address = "/api/v1/approval-policies/wish"
    shown = call(who.dora, "get", address).json()
    assert (shown["version"], read(shown["rules"]), shown["set_by"]) == (1, RULES, None)
    assert "wish" in [row["kind"] for row in call(who.dora, "get", "/api/v1/approval-policies/").json()["results"]]
    assert call(who.lin, "get", address).status_code == 403
    body = {"version": 1, "rules": shown["rules"][1:], "reason": "no automatism"}
    assert call(who.dora, "put", address, body).status_code == 403
    put = call(who.ada, "put", address, body)
    assert (put.status_code, put.json()["version"], put.json()["set_by"]) == (200, 2, "ada")
    late = call(who.bob, "put", address, body)
    assert late.status_code == 409
    assert str(who.ada) in late.json()["happened"][0]
    assert services.policy_in_force("wish").parsed == RULES[1:]
    faulty = call(who.ada, "put", address, {**body, "version": 2, "rules": shown["rules"][:1]})
    assert (faulty.status_code, "rules" in faulty.json()["errors"]) == (422, True)
    assert call(who.ada, "post", f"{address}/review", {"version": 2}).json()["reviewed_at"] is not None
    assert call(who.ada, "get", "/api/v1/approval-policies/nothing").status_code == 404


def test_a_list_costs_no_more_with_more_rows(wish: Wish, who: Cast, django_assert_max_num_queries: Any) -> None:
    for _number in range(20):
        submit(wish, people.person())
    client = people.api_client(who.ada)
    with django_assert_max_num_queries(26):
        assert client.get(f"{ROOT}/?waiting=me").json()["count"] == 20
    assert Approval.objects.count() == 20
