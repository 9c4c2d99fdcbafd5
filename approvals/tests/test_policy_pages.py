"""The editor of rules: rows by buttons, a preview of 30 days before anything is saved, and who was quicker."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.http import QueryDict

from accounts.models import Person
from accounts.tests import factories as people
from approvals import services
from approvals.models import Approval, PolicyReview, PolicyVersion
from approvals.policy_editor import compared
from approvals.policy_facts import policy_facts
from approvals.policy_form import rearranged, rows_of, rows_typed
from approvals.rules import Rule, StepRule
from approvals.tests.wish import ADMIN, DIRECTOR, RULES, Cast, Wish, submit
from kernel import clock

pytestmark = pytest.mark.django_db
ADDRESS = "/approvals/policies/wish"


def sent(rows: list[dict[str, Any]], act: str, **more: Any) -> dict[str, Any]:
    """The body of the form with these rows."""
    body: dict[str, Any] = {"act": act, "rows": str(len(rows)), "base": "1", "seen": "1", **more}
    for at, row in enumerate(rows):
        body |= {f"rule-{at}-{name}": value for name, value in row.items() if value not in (None, "")}
    return body


def rows() -> list[dict[str, Any]]:
    return rows_of(RULES, {})


def post(by: Person, body: dict[str, Any]) -> Any:
    return people.browser(by).post(ADDRESS, body)


def previewed(by: Person, body: dict[str, Any]) -> str:
    return str(post(by, {**body, "act": "preview"}).context["previewed"])


def names(answer: Any) -> list[str]:
    return [form["name"].value() for form in answer.context["editor"].forms]


def test_readers_read_and_only_an_admin_edits(wish: Wish, who: Cast) -> None:
    auditor = people.auditor()
    for reader in (who.dora, auditor, who.ada):
        assert people.browser(reader).get("/approvals/policies").status_code == 200
        assert people.browser(reader).get(ADDRESS).status_code == 200
    page = people.browser(who.dora).get(ADDRESS).content.decode()
    assert "rule-0-name" not in page
    assert people.browser(who.lin).get(ADDRESS).status_code == 403
    assert post(who.dora, sent(rows(), "preview")).status_code == 403
    assert people.browser(who.ada).get("/approvals/policies/nothing").status_code == 404


def test_the_rules_in_force_come_back_unchanged(wish: Wish, who: Cast) -> None:
    answer = post(who.ada, sent(rows(), "preview"))
    assert answer.context["editor"].rules == RULES
    assert "The rules are those in force" in answer.content.decode()


def test_rows_are_moved_added_and_removed_by_the_server_and_keep_what_was_typed(wish: Wish, who: Cast) -> None:
    typed = rows()
    typed[1]["name"] = "half typed"
    assert names(post(who.ada, sent(typed, "up-1"))) == ["half typed", "small", "rest"]
    assert names(post(who.ada, sent(typed, "down-0"))) == ["half typed", "small", "rest"]
    assert names(post(who.ada, sent(typed, "add"))) == ["small", "half typed", "", "rest"]
    assert names(post(who.ada, sent(typed, "remove-0"))) == ["half typed", "rest"]
    assert PolicyVersion.objects.count() == 1


@pytest.mark.parametrize("act", ["remove-2", "up-2", "down-1", "up-0", "remove-99", "down-x", "other"])
def test_the_last_row_stays_the_last(act: str) -> None:
    typed = rows()
    assert rearranged(typed, act) == typed


def test_rows_that_nobody_sent_are_not_made_up() -> None:
    for count in ("", "x", "9999999999", "-1"):
        assert rows_typed(QueryDict(f"rows={count}")) == []


def test_who_may_write_the_rules_passes_by_no_rule_before_or_then(wish: Wish, who: Cast) -> None:
    submit(wish, who.ada, gpus=4)
    found = compared(wish, wish.default_rules, clock.now())
    assert (found.automatic_before, found.automatic_then, found.changed) == ((0, 0), (0, 0), [])


def test_a_preview_says_what_would_have_become_of_the_last_30_days(wish: Wish, who: Cast) -> None:
    submit(wish, who.lin, gpus=4)
    changed = submit(wish, who.kim, gpus=16)
    old = submit(wish, who.bob, gpus=16)
    Approval.objects.filter(pk=old.pk).update(submitted_at=clock.now() - timedelta(days=31))
    typed = rows()
    typed[0]["most_gpus"] = 20
    answer = post(who.ada, sent(typed, "preview"))
    comparison = answer.context["comparison"]
    assert len(comparison.outcomes) == 2
    assert [one.past.approval_id for one in comparison.changed] == [changed.pk]
    assert (comparison.automatic_before, comparison.automatic_then) == ((1, 4), (2, 20))
    page = unescape(answer.content.decode())
    assert changed.title in page
    assert "up to 4 more GPUs, up to 30 days – granted at once, by the portal → up to 20 more GPUs" in page
    assert PolicyVersion.objects.count() == 1


def test_without_requests_the_preview_says_so(wish: Wish, who: Cast) -> None:
    assert "there is nothing to compare with" in post(who.ada, sent(rows(), "preview")).content.decode()


def test_only_what_was_previewed_is_saved_and_with_a_reason(wish: Wish, who: Cast) -> None:
    typed = rows()
    typed[0]["most_gpus"] = 2
    body = sent(typed, "save", reason="fewer by itself")
    first = post(who.ada, body)
    assert (first.status_code, "comparison" in first.context) == (200, True)
    assert PolicyVersion.objects.count() == 1
    body["previewed"] = previewed(who.ada, body)
    assert post(who.ada, {**body, "reason": ""}).status_code == 422
    assert post(who.ada, body).status_code == 302
    newest = services.policy_in_force("wish")
    assert (newest.number, newest.parsed[0].most_gpus, newest.reason) == (2, 2, "fewer by itself")
    page = unescape(people.browser(who.dora).get(ADDRESS).content.decode())
    assert "fewer by itself" in page
    assert "up to 4 more GPUs" in page


def test_who_was_slower_keeps_what_was_typed_and_reads_what_changed(wish: Wish, who: Cast) -> None:
    typed = rows()
    typed[0]["name"] = "tiny"
    body = sent(typed, "save", reason="a better name")
    body["previewed"] = previewed(who.ada, body)
    services.policy_set(actor=who.bob, kind="wish", rules=RULES[1:], seen=1, reason="no automatism")
    answer = post(who.ada, body)
    page = unescape(answer.content.decode())
    assert answer.status_code == 409
    assert "“no automatism”" in page
    assert "Rule “small” is gone" in page
    assert names(answer) == ["tiny", "middle", "rest"]
    assert post(who.ada, {**body, "seen": answer.context["seen"]}).status_code == 302
    assert services.policy_in_force("wish").number == 3


@pytest.mark.parametrize(
    ("at", "change", "at_fault"),
    [
        (0, {"name": ""}, 0),
        (0, {"name": "middle"}, 1),
        (0, {"most_gpus": "many"}, 0),
        (0, {"path": "nothing"}, 0),
        (1, {"path": "people", "people": "nobody-here"}, 1),
        (1, {"path": "people", "people": ""}, 1),
        (1, {"hours_1": "0"}, 1),
        (1, {"most_gpus": ""}, None),
    ],
)
def test_what_is_wrong_stands_at_its_row(
    at: int, change: dict[str, str], at_fault: int | None, wish: Wish, who: Cast
) -> None:
    typed = rows()
    typed[at] |= change
    answer = post(who.ada, sent(typed, "preview"))
    assert answer.status_code == 422
    faults = [bool(form.errors) for form in answer.context["editor"].forms]
    assert faults == [number == at_fault for number in range(len(faults))]
    assert bool(answer.context["editor"].faults) == (at_fault is None)


def test_people_are_named_and_read_back(wish: Wish, who: Cast) -> None:
    typed = rows()
    typed[1] |= {"path": "people", "people": "kim, Lin", "escalate_to": "either"}
    rules = post(who.ada, sent(typed, "preview")).context["editor"].rules
    assert rules[1].steps == (StepRule((), (who.kim.pk, who.lin.pk), 24, ("admin", "director")),)
    assert rows_of(rules, {who.kim.pk: who.kim, who.lin.pk: who.lin})[1]["people"] == "kim, lin"


def test_a_path_that_the_form_cannot_say_stays_what_it_was(wish: Wish, who: Cast) -> None:
    odd = Rule("three", (ADMIN, DIRECTOR, StepRule((), (who.kim.pk,))))
    services.policy_set(actor=who.ada, kind="wish", rules=[RULES[1], odd], seen=1, reason="three eyes")
    typed = rows_of((RULES[1], odd), {})
    assert typed[1]["path"] == "kept-1"
    typed[1]["name"] = "three people"
    rules = post(who.ada, sent(typed, "preview", base="2", seen="2")).context["editor"].rules
    assert rules[1].steps == odd.steps


def test_a_condition_that_the_kind_cannot_measure_is_not_offered(wish: Wish, who: Cast) -> None:
    page = people.browser(who.ada).get(ADDRESS).content.decode()
    assert "rule-0-most_gpus" in page
    assert "most_share_percent" not in page
    assert "rule-2-most_gpus" not in page


def test_the_quarterly_look_is_asked_for_and_put_on_record(wish: Wish, who: Cast) -> None:
    services.policy_in_force("wish")
    PolicyVersion.objects.update(created_at=clock.now() - timedelta(days=93))
    assert "review overdue" in people.browser(who.dora).get("/approvals/policies").content.decode()
    assert people.browser(who.dora).get(f"{ADDRESS}/review").status_code == 403
    browser = people.browser(who.ada)
    assert "still hold" in browser.get(f"{ADDRESS}/review").content.decode()
    assert browser.post(f"{ADDRESS}/review", {"seen": "1", "note": "fine"}).status_code == 302
    assert PolicyReview.objects.get().note == "fine"
    facts = {fact.kind.name: fact for fact in policy_facts()}
    assert not facts["wish"].is_overdue(clock.now())
    assert facts["wish"].is_overdue(clock.now() + timedelta(days=93))
