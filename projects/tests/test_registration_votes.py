"""Registrations in two steps: what becomes of votes when their givers leave, lose a role, or the content changes."""

from datetime import timedelta

import pytest

from accounts.models import Notification, Person
from accounts.services import role_grant, role_revoke
from accounts.tests import factories as people
from approvals import services as flow
from approvals.deciders import current_steps, deciders
from approvals.errors import ContentDiffers, MeanwhileChanged, NotYours, OwnRequest
from approvals.models import Approval, Vote
from approvals.rules import Rule, StepRule
from approvals.services import Ballot, approval_vote
from kernel import outbox
from kernel.errors import Invalid
from projects import services
from projects.content import REGISTRATION, content_hash
from projects.models import Project
from projects.tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_steps() -> None:
    """An admin, then a director."""
    steps = (StepRule(("admin",), escalate_to=("director",)), StepRule(("director",)))
    rules = (Rule("Every registration", steps),)
    flow.policy_set(actor=factories.admin(), kind=REGISTRATION, rules=rules, seen=1, reason="Two look at it")


def asked(lead: Person | None = None) -> tuple[Project, Approval]:
    project = factories.submitted_project(lead=lead)
    return project, Approval.objects.get(kind=REGISTRATION, subject_id=project.pk)


def vote(actor: Person, approval: Approval, answer: str = "approve", **more: object) -> Approval:
    return approval_vote(actor=actor, approval_id=approval.pk, ballot=Ballot(answer, **more))  # type: ignore[arg-type]


def may_decide(approval: Approval) -> set[int]:
    approval.refresh_from_db()
    steps = current_steps([approval])
    return {row.person_id for row in deciders([approval], steps)[approval.pk]}


def test_two_people_decide_one_after_the_other() -> None:
    director, project_and_approval = people.director(), asked()
    project, approval = project_and_approval
    with pytest.raises(NotYours):
        vote(director, approval)
    vote(factories.admin(), approval)
    project.refresh_from_db()
    assert project.state == "submitted"
    vote(director, approval)
    project.refresh_from_db()
    assert project.state == "active"


def test_one_person_with_both_roles_decides_one_step_only() -> None:
    both = people.admin("both")
    role_grant(actor=None, person_id=both.pk, role="director")
    people.director()
    _project, approval = asked()
    vote(both, approval)
    with pytest.raises(OwnRequest, match="earlier step"):
        vote(both, approval)


def test_a_second_click_says_what_happened_and_changes_nothing() -> None:
    director = people.director()
    project, approval = asked()
    seen = approval.version
    vote(factories.admin(), approval, version=seen)
    with pytest.raises(MeanwhileChanged) as refusal:
        vote(director, approval, version=seen)
    assert [str(factories.admin()) in line for line in refusal.value.data["happened"]] == [True]
    project.refresh_from_db()
    assert project.state == "submitted"


def test_a_team_that_changed_after_the_first_vote_makes_it_lapse_at_the_last() -> None:
    lead, director = people.person(), people.director()
    project, approval = asked(lead)
    vote(factories.admin(), approval)
    seen = content_hash(project)
    services.member_add(actor=lead, project_id=project.pk, person=people.person().username, role="researcher")
    with pytest.raises(ContentDiffers) as refusal:
        vote(director, approval, seen=seen)
    assert refusal.value.data["changed"] == ["team"]
    vote(director, approval)
    project.refresh_from_db()
    assert project.state == "submitted"
    assert Vote.objects.filter(lapsed_at__isnull=False).get().person == factories.admin()
    assert may_decide(approval) == {factories.admin().pk}
    vote(factories.admin(), approval)
    project.refresh_from_db()
    assert project.state == "active"


def test_who_loses_the_role_after_voting_is_asked_no_more_and_the_step_waits_again() -> None:
    director, second = people.director(), people.admin("second-admin")
    project, approval = asked()
    vote(second, approval)
    role_revoke(actor=factories.admin(), person_id=second.pk, role="admin")
    outbox.deliver_due()
    assert may_decide(approval) == {factories.admin().pk}
    with pytest.raises(NotYours):
        vote(director, approval)
    vote(factories.admin(), approval)
    vote(director, approval)
    project.refresh_from_db()
    assert project.state == "active"


def test_even_if_the_news_has_not_arrived_the_last_vote_looks_again() -> None:
    director, second = people.director(), people.admin("second-admin")
    project, approval = asked()
    vote(second, approval)
    role_revoke(actor=factories.admin(), person_id=second.pk, role="admin")
    vote(director, approval)
    project.refresh_from_db()
    assert project.state == "submitted"
    vote(factories.admin(), approval)
    project.refresh_from_db()
    assert project.state == "active"


def test_off_boarding_ends_votes_and_stand_ins_and_says_so() -> None:
    people.director()
    second, helper = people.admin("second-admin"), people.person("helper")
    _project, approval = asked()
    vote(second, approval)
    until = approval.submitted_at + timedelta(days=30)
    flow.delegation_create(actor=second, stand_in_id=helper.pk, starts_at=None, ends_at=until)
    report = people.off_board(second)
    told = {line["what"]: line["count"] for line in report.lines if line["room"] == "approvals"}
    assert told == {"stand_ins": 1, "votes": 1}
    assert may_decide(approval) == {factories.admin().pk}
    assert Vote.objects.get().lapse_reason


def test_a_stand_in_who_leaves_takes_the_vote_along() -> None:
    people.director()
    second, helper = people.admin("second-admin"), people.person("helper")
    _project, approval = asked()
    until = approval.submitted_at + timedelta(days=30)
    flow.delegation_create(actor=second, stand_in_id=helper.pk, starts_at=None, ends_at=until)
    voted = vote(helper, approval)
    assert voted.votes.get().on_behalf_of == second
    people.off_board(helper)
    assert may_decide(approval) == {factories.admin().pk, second.pk}


def test_closing_a_draft_that_was_asked_back_closes_the_question() -> None:
    lead = people.person()
    project, approval = asked(lead)
    vote(factories.admin(), approval, "return", comment="Which data?")
    services.project_close(actor=lead, project_id=project.pk, reason="No longer")
    approval.refresh_from_db()
    assert approval.state == "withdrawn"


def test_submitted_again_it_is_the_same_approval_and_old_votes_do_not_count() -> None:
    lead, director = people.person(), people.director()
    project, approval = asked(lead)
    vote(factories.admin(), approval)
    vote(director, approval, "return", comment="Which data?")
    services.project_submit(actor=lead, project_id=project.pk, answer="The web")
    again = Approval.objects.get(kind=REGISTRATION, subject_id=project.pk)
    assert (again.pk, again.round, again.state) == (approval.pk, 2, "waiting")
    with pytest.raises(NotYours):
        vote(director, again)
    vote(factories.admin(), again)
    vote(director, again)
    project.refresh_from_db()
    assert project.state == "active"


def test_what_is_decided_waits_in_no_inbox_any_more() -> None:
    director, admin = people.director(), factories.admin()
    _project, approval = asked()
    unread = Notification.objects.filter(topic="approvals.waiting", read_at=None)
    assert [row.person for row in unread] == [admin]
    vote(admin, approval)
    assert [row.person for row in unread.all()] == [director]
    vote(director, approval)
    assert not unread.all().exists()


def test_a_registration_is_approved_as_it_was_asked_or_not_at_all() -> None:
    _project, approval = asked()
    with pytest.raises(Invalid) as refused:
        vote(factories.admin(), approval, changes={"gpus": 1})
    assert list(refused.value.errors) == ["changes"]
