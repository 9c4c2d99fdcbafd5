"""The decision page through HTTP: each answer, by role and by state, and what it shows of a second click."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Person, Role
from accounts.services import role_grant
from accounts.tests import factories as people
from approvals.models import Approval, Comment
from approvals.rules import Rule, StepRule
from approvals.services import approval_comment, delegation_create, policy_in_force, policy_set
from kernel import clock
from projects.content import REGISTRATION
from projects.models import Project
from projects.services import member_add, member_remove
from projects.tests import factories as registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> Person:
    return people.person("lin", display_name="Lin Yue")


@pytest.fixture
def approval(lead: Person) -> Approval:
    """A registration that waits for an admin or a director."""
    project = registry.submitted_project(lead=lead, name="Protein dynamics")
    return Approval.objects.get(kind=REGISTRATION, subject_id=project.pk)


@pytest.fixture
def admin() -> Client:
    return people.browser(people.person("brandt", Role.ADMIN, display_name="A. Brandt"))


def answered(approval: Approval, answer: str, comment: str = "", **more: Any) -> dict[str, Any]:
    return {"answer": answer, "version": approval.version, "seen": approval.content, "comment": comment, **more}


def at(approval: Approval, act: str = "") -> str:
    return f"/approvals/{approval.pk}{act}"


def test_who_may_decide_sees_the_buttons_and_what_follows(approval: Approval, admin: Client) -> None:
    page = admin.get(at(approval)).content.decode()
    for words in ("Protein dynamics", "Waits for you", "Asked by <b>Lin Yue</b>", "1 of 1", 'data-hotkey="a"', "You"):
        assert words in page
    assert f'name="version" value="{approval.version}"' in page and approval.content in page
    assert "Approve less" not in page


def test_who_asked_may_withdraw_and_nothing_else(approval: Approval, lead: Person) -> None:
    page = people.browser(lead).get(at(approval)).content.decode()
    assert "Withdraw…" in page and 'data-hotkey="a"' not in page


@pytest.mark.parametrize("answer", ["approve", "reject", "return"])
@pytest.mark.parametrize("role", [Role.ADMIN, Role.DIRECTOR])
def test_each_answer_of_those_who_decide(approval: Approval, answer: str, role: Role) -> None:
    browser = people.browser(people.person("someone", role))
    found = browser.post(at(approval, "/vote"), answered(approval, answer, "Because of the milestone"))
    assert (found.status_code, found["Location"]) == (302, at(approval))
    approval.refresh_from_db()
    assert approval.state == {"approve": "approved", "reject": "rejected", "return": "returned"}[answer]
    page = browser.get(at(approval)).content.decode()
    assert "Because of the milestone" in page and 'data-hotkey="a"' not in page


@pytest.mark.parametrize("answer", ["reject", "return"])
def test_a_refusal_needs_a_reason_at_its_field(approval: Approval, admin: Client, answer: str) -> None:
    found = admin.post(at(approval, "/vote"), answered(approval, answer))
    assert found.status_code == 422
    assert "Say why" in found.content.decode()
    approval.refresh_from_db()
    assert approval.state == "waiting"


def test_the_second_click_says_what_happened_and_keeps_the_comment(approval: Approval, admin: Client) -> None:
    admin.post(at(approval, "/vote"), answered(approval, "approve", "Go ahead"))
    found = admin.post(at(approval, "/vote"), answered(approval, "reject", "Typed <i>meanwhile</i>"))
    page = found.content.decode()
    assert found.status_code == 409
    assert "A. Brandt approved it on" in page and "This changed while you were looking" in page
    assert "Typed &lt;i&gt;meanwhile&lt;/i&gt;</textarea>" in page
    assert Project.objects.get(pk=approval.subject_id).state == "active"


def test_a_stale_page_keeps_the_comment_for_the_next_answer(approval: Approval, admin: Client, lead: Person) -> None:
    stale = answered(approval, "reject", "Typed <i>meanwhile</i>")
    director = people.browser(people.director("dora"))
    director.post(at(approval, "/vote"), answered(approval, "return", "Which data?"))
    registry_answer(approval, lead)
    found = admin.post(at(approval, "/vote"), stale)
    page = found.content.decode()
    assert found.status_code == 409
    assert "Dora asked back it on" in page or "Dora" in page
    assert "Typed &lt;i&gt;meanwhile&lt;/i&gt;</textarea>" in page
    approval.refresh_from_db()
    assert f'name="version" value="{approval.version}"' in page and approval.state == "waiting"


def registry_answer(approval: Approval, lead: Person) -> None:
    from projects.services import project_submit

    project_submit(actor=lead, project_id=approval.subject_id, answer="The open ones")


def test_content_that_changed_since_is_named_and_the_next_answer_counts(approval: Approval, admin: Client) -> None:
    seen = answered(approval, "approve", "Fine")
    Project.objects.filter(pk=approval.subject_id).update(goal="Something else")
    found = admin.post(at(approval, "/vote"), seen)
    page = found.content.decode()
    assert found.status_code == 409 and "Changed: Goal" in page and ">Fine</textarea>" in page
    again = {**seen, "seen": found.context["seen"], "version": found.context["approval"].version}
    assert admin.post(at(approval, "/vote"), again).status_code == 302


@pytest.mark.parametrize("broken", [{"version": "x"}, {"answer": "maybe"}, {"seen": ""}, {"comment": "x" * 2001}])
def test_a_broken_form_decides_nothing(approval: Approval, admin: Client, broken: dict[str, str]) -> None:
    assert admin.post(at(approval, "/vote"), {**answered(approval, "approve"), **broken}).status_code == 422
    approval.refresh_from_db()
    assert approval.state == "waiting"


def test_nobody_decides_on_their_own(approval: Approval, lead: Person) -> None:
    role_grant(actor=None, person_id=lead.pk, role=Role.ADMIN)
    assert people.browser(lead).post(at(approval, "/vote"), answered(approval, "approve")).status_code == 403
    assert people.browser(lead).get(at(approval, "/refuse")).status_code == 403


def test_an_auditor_reads_and_a_stranger_knows_of_nothing(approval: Approval) -> None:
    auditor, stranger = people.browser(people.auditor("anna")), people.browser(people.person("nobody"))
    assert auditor.get(at(approval)).status_code == 200
    assert auditor.post(at(approval, "/vote"), answered(approval, "approve")).status_code == 403
    for act in ("", "/peek", "/refuse", "/hand-on", "/less", "/withdraw"):
        assert stranger.get(at(approval, act), HTTP_HX_REQUEST="true").status_code == 404
    for act in ("/vote", "/comment", "/refuse", "/withdraw"):
        assert stranger.post(at(approval, act), answered(approval, "approve")).status_code == 404


def test_a_stand_in_without_a_role_decides_for_the_other(approval: Approval) -> None:
    director, stand_in = people.director("dora"), people.person("sam", display_name="Sam Stand-in")
    later = clock.now() + timedelta(days=2)
    delegation_create(actor=director, stand_in_id=stand_in.pk, starts_at=None, ends_at=later)
    browser = people.browser(stand_in)
    page = browser.get(at(approval)).content.decode()
    assert "You stand in for <b>Dora</b>" in page and 'data-hotkey="a"' in page and "Hand on" not in page
    assert browser.post(at(approval, "/vote"), answered(approval, "approve")).status_code == 302
    assert "Sam Stand-in for Dora" in browser.get(at(approval)).content.decode()


def test_the_button_says_who_comes_next(lead: Person, admin: Client) -> None:
    seen = policy_in_force(REGISTRATION).number
    rule = Rule("Both", (StepRule((Role.ADMIN,)), StepRule((Role.DIRECTOR,))))
    policy_set(actor=people.admin("boss"), kind=REGISTRATION, rules=(rule,), reason="Two look at it", seen=seen)
    project = registry.submitted_project(lead=lead)
    approval = Approval.objects.get(subject_id=project.pk)
    page = admin.get(at(approval)).content.decode()
    assert "Approve, pass to a director" in page and "then a director" in page
    found = admin.post(at(approval, "/vote"), answered(approval, "approve", "Fine by me"), follow=True)
    said = found.content.decode()
    assert "Passed on" in said and "Fine by me" in said and 'data-hotkey="a"' not in said
    director = people.browser(people.director("dora"))
    assert "Approve, pass" not in director.get(at(approval)).content.decode()


def test_refusing_asks_first_and_then_needs_a_reason(approval: Approval, admin: Client) -> None:
    question = admin.get(at(approval, "/refuse"), HTTP_HX_REQUEST="true").content.decode()
    assert "Refuse “Protein dynamics”?" in question
    given = {"version": approval.version, "seen": approval.content}
    assert admin.post(at(approval, "/refuse"), given).status_code == 422
    assert admin.post(at(approval, "/refuse"), {**given, "comment": "No data"}).status_code == 302
    assert admin.post(at(approval, "/refuse"), {**given, "comment": "No data"}).status_code == 409
    approval.refresh_from_db()
    assert approval.state == "rejected"


def test_there_is_no_less_of_a_registration(approval: Approval, admin: Client) -> None:
    assert admin.get(at(approval, "/less")).status_code == 409


def test_handing_on_names_a_person(approval: Approval, admin: Client) -> None:
    other = people.person("otto")
    given = {"version": approval.version, "comment": "You know them"}
    assert admin.get(at(approval, "/hand-on"), HTTP_HX_REQUEST="true").status_code == 200
    wrong = admin.post(at(approval, "/hand-on"), {**given, "to": "who"})
    assert wrong.status_code == 422 and "Nobody active is called “who”" in wrong.content.decode()
    own_side = admin.post(at(approval, "/hand-on"), {**given, "to": "lin"})
    assert own_side.status_code == 422
    assert admin.post(at(approval, "/hand-on"), {**given, "to": "otto"}).status_code == 302
    assert people.browser(other).post(at(approval, "/vote"), answered(approval, "approve")).status_code == 302


def test_who_asked_withdraws_once(approval: Approval, lead: Person, admin: Client) -> None:
    browser = people.browser(lead)
    assert admin.get(at(approval, "/withdraw")).status_code == 403
    assert browser.get(at(approval, "/withdraw"), HTTP_HX_REQUEST="true").status_code == 200
    assert browser.post(at(approval, "/withdraw"), {"reason": "Not now"}).status_code == 302
    assert browser.post(at(approval, "/withdraw"), {"reason": "Not now"}).status_code == 409
    assert "Withdrawn" in browser.get(at(approval)).content.decode()


def test_what_was_asked_back_leads_who_asked_to_the_answer(approval: Approval, lead: Person, admin: Client) -> None:
    admin.post(at(approval, "/vote"), answered(approval, "return", "Which data?"))
    page = people.browser(lead).get(at(approval)).content.decode()
    assert "Waits for your answer" in page and "Which data?" in page
    assert f"/projects/{approval.subject_id}/edit" in page


def test_private_notes_are_never_for_who_asked(approval: Approval, lead: Person, admin: Client) -> None:
    assert admin.post(at(approval, "/comment"), {"text": "Between us", "is_private": "1"}).status_code == 302
    assert admin.post(at(approval, "/comment"), {"text": "For all"}).status_code == 302
    mine, theirs = admin.get(at(approval)).content.decode(), people.browser(lead).get(at(approval)).content.decode()
    assert "Between us" in mine and "is-private" in mine
    assert "Between us" not in theirs and "For all" in theirs and 'name="is_private"' not in theirs
    assert people.browser(lead).post(at(approval, "/comment"), {"text": "x", "is_private": "1"}).status_code == 403
    theirs = people.browser(lead).get(at(approval, "/peek"), HTTP_HX_REQUEST="true").content.decode()
    assert "Between us" not in theirs and "For all" in theirs


def test_an_empty_comment_is_refused_at_its_field(approval: Approval, admin: Client) -> None:
    assert admin.post(at(approval, "/comment"), {"text": " "}).status_code == 422
    assert not Comment.objects.exists()


def test_the_panel_shows_the_last_two_comments_and_the_buttons(approval: Approval, admin: Client, lead: Person) -> None:
    for text in ("First said", "Then said", "Last said"):
        approval_comment(actor=lead, approval_id=approval.pk, text=text)
    panel = admin.get(at(approval, "/peek"), HTTP_HX_REQUEST="true").content.decode()
    assert "<html" not in panel and "First said" not in panel and "Then said" in panel and "Last said" in panel
    assert 'value="approve"' in panel
    assert admin.get(at(approval, "/peek")).status_code == 302
    voted = admin.post(at(approval, "/vote"), answered(approval, "approve", **{"from": "queue"}))
    assert voted["Location"] == "/approvals"


def test_before_and_after_lead_through_what_waits(lead: Person, admin: Client) -> None:
    for index in range(3):
        registry.submitted_project(lead=lead, name=f"Waiting {index}")
    rows = list(Approval.objects.filter(state="waiting").order_by("due_at", "submitted_at", "pk"))
    page = admin.get(at(rows[1])).content.decode()
    assert "2 of 3" in page
    assert f'href="/approvals/{rows[0].pk}" data-go="before"' in page
    assert f'href="/approvals/{rows[2].pk}" data-go="after"' in page


def test_long_names_and_hostile_text_stay_text(lead: Person, admin: Client) -> None:
    name = "<script>alert(1)</script> 蛋白质结构预测 " + "x" * 100
    project = registry.submitted_project(lead=lead, name=name[:160])
    approval = Approval.objects.get(subject_id=project.pk)
    approval_comment(actor=lead, approval_id=approval.pk, text="<script>alert(2)</script>")
    for answer in (admin.get(at(approval)), admin.get(at(approval, "/peek"), HTTP_HX_REQUEST="true")):
        page = answer.content.decode()
        assert "<script>alert" not in page and "&lt;script&gt;alert(2)" in page and "蛋白质结构预测" in page


def test_many_are_decided_as_they_are_shown_though_a_team_changed(
    approval: Approval, admin: Client, lead: Person
) -> None:
    people.person("newcomer")
    member_add(actor=lead, project_id=approval.subject_id, person="newcomer", role="researcher")
    page = admin.get(f"/approvals/bulk/approve?ids={approval.pk}").content.decode()
    seen = re.findall(r'name="seen" value="([^"]+)"', page)
    member_remove(actor=lead, project_id=approval.subject_id, person_id=Person.objects.get(username="newcomer").pk)
    late = admin.post("/approvals/bulk/approve", {"seen": seen}).content.decode()
    assert "<b>1</b> not done" in late
    member_add(actor=lead, project_id=approval.subject_id, person="newcomer", role="researcher")
    assert "<b>1</b> done" in admin.post("/approvals/bulk/approve", {"seen": seen}).content.decode()
    approval.refresh_from_db()
    assert approval.state == "approved"


@pytest.mark.parametrize("act", ["/vote", "/refuse"])
def test_a_team_that_changed_since_the_submission_is_decided_on_as_it_is_shown(
    approval: Approval, admin: Client, lead: Person, act: str
) -> None:
    people.person("newcomer")
    member_add(actor=lead, project_id=approval.subject_id, person="newcomer", role="researcher")
    page = admin.get(at(approval, "" if act == "/vote" else act)).content.decode()
    [seen] = set(re.findall(r'name="seen" (?:[a-z]+="[^"]*" )*value="(\w+)"', page))
    assert seen != approval.content
    found = admin.post(at(approval, act), answered(approval, "approve", "Looked at", seen=seen))
    assert found.status_code == 302
    approval.refresh_from_db()
    assert approval.state == ("approved" if act == "/vote" else "rejected")
