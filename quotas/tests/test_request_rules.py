"""What may be asked and granted, and by what it is judged: the refusals name what helps."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import Role
from approvals.errors import ContentDiffers
from approvals.kinds import kind_named
from approvals.models import Comment
from approvals.services import Ballot, approval_vote
from inventory.models import GpuModel
from kernel import clock
from kernel.errors import Forbidden, IllegalTransition, Invalid, NotFound
from kernel.models import AuditEntry
from kernel.outbox import deliver_due
from projects import services as registry
from projects.models import Project
from projects.tests import factories
from quotas import services
from quotas.errors import HasMore, NoResources, RequestChanged, RequestNotEditable, RequestOpen, RequestSent, WindowOver
from quotas.models import Claim, ClaimKind, QuotaRequest
from quotas.requests.content import content_hash
from quotas.requests.selectors import listed_requests, open_question
from quotas.selectors import Quota, quotas_at
from quotas.states import RequestState
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


def held(project: Project, model: GpuModel, days: float = 0) -> Quota:
    quotas = quotas_at(asking.in_days(days), [project.pk])
    return quotas.get((project.pk, "gpu", model.pk), Quota(0, 0))


def refusal(project: Project, model: GpuModel, guaranteed: int, **facts: Any) -> dict[str, list[str]]:
    """By field, of a request that is handed in."""
    with pytest.raises(Invalid) as refused:
        asking.submitted(project, model, guaranteed, **facts)
    return refused.value.errors


def test_what_cannot_be_is_refused_by_field_with_who_can_help(project: Project, model: GpuModel) -> None:
    billion = refusal(project, model, 10**9)["guaranteed"][0]
    assert "1\N{NARROW NO-BREAK SPACE}000" in billion or "1,000" in billion or "1000000000" in billion
    assert "of 64 GPUs 60 can be guaranteed" in billion
    assert "platform admin" in billion
    assert "limit" in refusal(project, model, 8, limit=65)
    assert "limit" in refusal(project, model, 8, limit=7)
    assert "guaranteed" in refusal(project, model, -1)
    assert "guaranteed" in refusal(project, model, 10**30)
    assert "least" in refusal(project, model, 8, least=9)
    assert "starts_at" in refusal(project, model, 8, starts_at=asking.in_days(-1))
    assert "ends_at" in refusal(project, model, 8, ends_at=asking.in_days(-1))
    assert "ends_at" in refusal(project, model, 8, starts_at=asking.in_days(2), ends_at=asking.in_days(1))
    assert "ends_at" in refusal(project, model, 8, ends_at=asking.in_days(3000))
    assert "reason" in refusal(project, model, 8, reason="x" * 2001)
    assert refusal(project, model, 8, reason=" ")["reason"] == ["Say what it is for: whoever decides reads this first."]
    assert not QuotaRequest.objects.exclude(state="draft").exists()


def test_a_draft_may_lack_anything_and_says_what_it_lacks(project: Project) -> None:
    lead = asking.lead_of(project)
    draft = services.request_create(actor=lead, project_id=project.pk)
    with pytest.raises(Invalid) as refused:
        services.request_submit(actor=lead, request_id=draft.pk)
    assert set(refused.value.errors) == {"gpu_model", "guaranteed", "reason"}


def test_a_raise_for_a_time_takes_nothing_away(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    until = asking.in_days(9)
    assert "guaranteed" in refusal(project, model, 4, limit=16, ends_at=until)
    assert "limit" in refusal(project, model, 8, limit=12, ends_at=until)
    assert "guaranteed" in refusal(project, model, 8, limit=16, ends_at=until)
    assert "guaranteed" in refusal(project, model, 8, limit=16)


def test_only_leads_of_active_projects_ask(project: Project, model: GpuModel) -> None:
    outsider, member = make.granter(), asking.decider("member", Role.AUDITOR)
    factories.enrol(project, member)
    for someone in (outsider, member):
        with pytest.raises(Forbidden):
            services.request_create(actor=someone, project_id=project.pk)
    with pytest.raises(NotFound):
        services.request_create(actor=asking.lead_of(factories.active_project()), project_id=project.pk)
    for other in (factories.draft_project(), factories.suspended_project(), factories.closed_project()):
        with pytest.raises(NoResources):
            services.request_create(actor=asking.lead_of(other), project_id=other.pk)


def test_one_request_of_a_project_and_model_is_open_at_a_time(project: Project, model: GpuModel) -> None:
    first = asking.submitted(project, model, 40)
    with pytest.raises(RequestOpen, match=f"Request {first.pk} .* is open already"):
        asking.submitted(project, model, 48)
    services.request_withdraw(actor=asking.lead_of(project), request_id=first.pk)
    assert asking.submitted(project, model, 48).state == RequestState.SUBMITTED


def test_less_may_be_granted_never_more_and_never_less_than_is_held(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    request = asking.submitted(project, model, 40, limit=48)

    def field(**changes: Any) -> list[str]:
        with pytest.raises(Invalid) as refused:
            asking.vote(request, changes=changes)
        return sorted(refused.value.errors)

    assert field(guaranteed=41) == ["guaranteed"]
    assert field(guaranteed=7) == ["guaranteed"]
    assert field(guaranteed="16") == ["guaranteed"]
    assert field(limit=49) == ["limit"]
    assert field(limit=39) == ["limit"]
    assert field(guaranteed=8, limit=12) == ["limit"]
    assert field(ends_at="2000-01-01T00:00:00+00:00") == ["ends_at"]
    assert field(ends_at="tomorrow") == ["ends_at"]
    assert field(reason="other") == ["reason"]
    assert field(guaranteed=10**40) == ["guaranteed", "limit"]
    assert field(limit=10**40) == ["limit"]
    assert field(ends_at="9999-12-31T23:59:59-12:00") == ["ends_at"]
    assert field(ends_at="0001-01-01T00:00:00+12:00") == ["ends_at"]
    ends_at = asking.in_days(30)
    granted = asking.approve(request, changes={"guaranteed": 24, "ends_at": ends_at.isoformat()})
    assert (granted.granted_guaranteed, granted.granted_limit, granted.granted_ends_at) == (24, 48, ends_at)
    assert (held(project, model), held(project, model, 31)) == (Quota(24, 48), Quota(8, 16))


def test_an_end_is_only_moved_to_earlier(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 30, ends_at=asking.in_days(30))
    with pytest.raises(Invalid, match="later than is asked for"):
        asking.vote(request, changes={"ends_at": asking.in_days(31).isoformat()})
    ends_at = asking.in_days(10)
    assert asking.approve(request, changes={"ends_at": ends_at.isoformat()}).granted_ends_at == ends_at


def test_a_raise_takes_nothing_of_what_is_granted_for_later(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8)
    make.grant(project, model, 24, effective_from=asking.in_days(20))
    said = refusal(project, model, 16)["guaranteed"][0]
    assert "guaranteed 8 for a while and 24 for another: 16 would add to the one and take from the other" in said
    asking.approve(asking.submitted(project, model, 16, ends_at=asking.in_days(10)))
    request = asking.submitted(project, model, 30)
    with pytest.raises(Invalid, match="20 is less than the 24"):
        asking.vote(request, changes={"guaranteed": 20})
    asking.approve(request, changes={"guaranteed": 26})
    assert (held(project, model, 1).guaranteed, held(project, model, 21).guaranteed) == (26, 26)


def test_a_raise_is_refused_where_more_is_granted_for_later_by_now(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 20)
    make.grant(project, model, 24, effective_from=asking.in_days(20))
    with pytest.raises(HasMore, match="24 are guaranteed by now"):
        asking.approve(request)


def test_a_raise_is_refused_where_more_is_held_by_now(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 20)
    make.grant(project, model, 24)
    with pytest.raises(HasMore, match="24 are guaranteed by now"):
        asking.vote(request)
    request.refresh_from_db()
    assert (request.state, held(project, model).guaranteed) == (RequestState.SUBMITTED, 24)


def test_what_began_late_begins_when_it_is_decided_and_what_is_over_is_not(project: Project, model: GpuModel) -> None:
    start = asking.in_days(1)
    request = asking.submitted(project, model, 20, starts_at=start, ends_at=asking.in_days(20))
    with clock.frozen(asking.in_days(3)):
        granted = asking.approve(request)
        assert granted.granted_from == clock.now()
    other = asking.submitted(factories.active_project(), model, 20, ends_at=asking.in_days(5))
    with clock.frozen(asking.in_days(6)), pytest.raises(WindowOver):
        asking.approve(other)


def test_a_raise_is_granted_around_what_is_there_piece_by_piece(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=8)
    make.grant(project, model, 24, limit=40, effective_from=asking.in_days(5), effective_to=asking.in_days(10))
    asking.approve(asking.submitted(project, model, 20, limit=30, ends_at=asking.in_days(15)))
    assert [held(project, model, days) for days in (1, 7, 12, 16)] == [
        Quota(20, 30),
        Quota(24, 40),
        Quota(20, 30),
        Quota(8, 8),
    ]
    assert Claim.objects.filter(kind=ClaimKind.TEMPORARY).count() == 2


def test_a_larger_base_swallows_what_a_raise_added(project: Project, model: GpuModel) -> None:
    """Making a raise permanent takes no GPU twice."""
    asking.approve(asking.submitted(project, model, 40, limit=48, ends_at=asking.in_days(30)))
    asking.approve(asking.submitted(project, model, 40, limit=40))
    assert (held(project, model), held(project, model, 31)) == (Quota(40, 48), Quota(40, 40))
    make.grant(project, model, 10, limit=10)
    assert held(project, model) == Quota(10, 18)


def test_asked_back_it_is_submitted_again_with_an_answer(project: Project, model: GpuModel) -> None:
    lead, request = asking.lead_of(project), asking.submitted(project, model, 40)
    asking.vote(request, "return", comment="For how long?")
    request.refresh_from_db()
    question = open_question(request)
    assert question is not None
    assert question.text == "For how long?"
    services.request_edit(actor=lead, request_id=request.pk, facts={"guaranteed": 20})
    with pytest.raises(Invalid, match="Answer the question"):
        services.request_submit(actor=lead, request_id=request.pk)
    services.request_submit(actor=lead, request_id=request.pk, answer="A month")
    assert [row.text for row in Comment.objects.all()] == ["A month"]
    approval = asking.approval(request)
    assert (approval.round, approval.measures["gpus"]) == (2, 20)
    assert asking.approve(QuotaRequest.objects.get(pk=request.pk)).granted_guaranteed == 20


def test_a_vote_is_on_what_was_looked_at(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 40)
    seen = content_hash(request)
    QuotaRequest.objects.filter(pk=request.pk).update(guaranteed=60)
    with pytest.raises(ContentDiffers) as refused:
        approval_vote(
            actor=asking.decider(), approval_id=asking.approval(request).pk, ballot=Ballot("approve", seen=seen)
        )
    assert refused.value.data["changed"] == ["Guaranteed"]


def test_what_is_submitted_is_fixed_and_a_stale_page_changes_nothing(project: Project, model: GpuModel) -> None:
    lead, draft = asking.lead_of(project), asking.draft(project, model, 20)
    seen = content_hash(draft)
    services.request_edit(actor=lead, request_id=draft.pk, facts={"guaranteed": 30}, seen=seen)
    with pytest.raises(RequestChanged) as refused:
        services.request_edit(actor=lead, request_id=draft.pk, facts={"guaranteed": 40}, seen=seen)
    assert refused.value.data["changed"] == ["Guaranteed"]
    services.request_submit(actor=lead, request_id=draft.pk)
    with pytest.raises(RequestNotEditable):
        services.request_edit(actor=lead, request_id=draft.pk, facts={"guaranteed": 40})


def test_a_clone_asks_for_the_same_without_what_has_passed(project: Project, model: GpuModel) -> None:
    lead = asking.lead_of(project)
    first = asking.submitted(project, model, 30, ends_at=asking.in_days(20), starts_at=asking.in_days(5))
    with clock.frozen(asking.in_days(10)):
        copy = services.request_clone(actor=lead, request_id=first.pk)
    assert (copy.state, copy.cloned_from, copy.guaranteed) == (RequestState.DRAFT, first, 30)
    assert (copy.starts_at, copy.ends_at) == (None, first.ends_at)


def test_a_discarded_draft_is_in_no_list(project: Project, model: GpuModel) -> None:
    lead, draft = asking.lead_of(project), asking.draft(project, model, 20)
    services.request_discard(actor=lead, request_id=draft.pk)
    assert not listed_requests(lead).exists()
    with pytest.raises(IllegalTransition):
        services.request_submit(actor=lead, request_id=draft.pk)


def test_a_project_that_closes_asks_for_nothing_any_more(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 40)
    registry.project_close(actor=make.granter(), project_id=project.pk, reason="Over")
    while deliver_due():
        pass
    request.refresh_from_db()
    assert (request.state, asking.approval(request).state) == ("withdrawn", "withdrawn")
    assert AuditEntry.objects.get(action="quota_request.withdrawn").actor_type == "portal"


def test_a_suspended_project_is_granted_nothing(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 40)
    registry.project_suspend(actor=make.granter(), project_id=project.pk, reason="A question")
    asking.vote(request)
    director = asking.decider("second", Role.DIRECTOR)
    with pytest.raises(NoResources):
        asking.vote(request, by=director)
    registry.project_resume(actor=make.granter(), project_id=project.pk, reason="Answered")
    asking.vote(request, by=director)
    request.refresh_from_db()
    assert request.state == RequestState.APPROVED


def test_what_the_portal_granted_is_said_to_be_automatic_and_can_be_ended(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 1, ends_at=asking.in_days(5))
    claim = Claim.objects.get(request=request)
    after = AuditEntry.objects.get(action="quota.raised").after
    assert after is not None
    assert after["is_automatic"] is True
    assert AuditEntry.objects.get(action="quota.raised").actor_type == "portal"
    services.claim_end(actor=make.granter(), claim_id=claim.pk, reason="Not needed")
    assert held(project, model) == Quota(0, 0)


def test_a_form_sent_again_is_the_same_and_with_other_values_refused(project: Project, model: GpuModel) -> None:
    lead, key = asking.lead_of(project), uuid4()

    def send(guaranteed: str) -> QuotaRequest:
        facts: services.RequestFacts = {"gpu_model_id": model.pk, "guaranteed": int(guaranteed), "reason": "Because"}
        typed = {"guaranteed": [guaranteed]}
        sending = services.RequestSending(facts, key, "quotas.request", typed, is_submission=True)
        return services.request_send_new(actor=lead, project_id=project.pk, sending=sending)

    first = send("40")
    assert send("40") == first
    with pytest.raises(RequestSent):
        send("41")


def test_a_form_that_is_granted_at_once_is(project: Project, model: GpuModel) -> None:
    facts: services.RequestFacts = {
        "gpu_model_id": model.pk,
        "guaranteed": 1,
        "reason": "Because",
        "ends_at": clock.now() + timedelta(days=3),
    }
    sending = services.RequestSending(facts, uuid4(), "quotas.request", {}, is_submission=True)
    made = services.request_send_new(actor=asking.lead_of(project), project_id=project.pk, sending=sending)
    assert made.state == RequestState.APPROVED


def test_lists_take_as_many_statements_for_many_as_for_one(model: GpuModel, django_assert_num_queries: Any) -> None:
    kind, now = kind_named("quota_request"), clock.now()
    approvals = [asking.approval(asking.submitted(factories.active_project(), model, 40)) for _ in range(4)]
    with django_assert_num_queries(5):
        one = kind.rows(approvals[:1], now)[approvals[0].pk]
    with django_assert_num_queries(5):
        assert len(kind.rows(approvals, now)) == 4
    assert (one.what, one.before, one.after) == ("Raise", "0, limit 0", "40, no limit")
    assert (one.asked_more, one.free) == (40, 60)
    assert one.fits
