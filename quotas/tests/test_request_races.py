"""Two connections at once on requests: of two acts that cannot both stand one has its effect, once."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from accounts.models import Notification, Person, Role
from accounts.tests import factories as people
from approvals.models import Approval
from approvals.services import Ballot, approval_vote
from inventory.models import GpuModel
from kernel import clock
from kernel.intervals import Interval
from kernel.outbox import deliver_due
from projects.models import Project
from projects.services import project_close
from projects.tests.factories import active_project
from quotas import services
from quotas.models import Claim, QuotaRequest
from quotas.selectors import free_between
from quotas.tests import asking
from quotas.tests import factories as make
from quotas.tests.test_locks import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> GpuModel:
    found, _node = make.capacity(64)
    return found


def vote(request: QuotaRequest, by: Person, answer: str = "approve") -> Callable[[], object]:
    pk = asking.approval(request).pk
    return lambda: approval_vote(actor=by, approval_id=pk, ballot=Ballot(answer, comment="Because"))


def at_the_last_step(project: Project, model: GpuModel, guaranteed: int) -> QuotaRequest:
    """Asked for and let through by an admin; a director decides."""
    request = asking.submitted(project, model, guaranteed)
    asking.vote(request)
    return request


def directors() -> tuple[Person, Person]:
    return people.director("d-one"), people.director("d-two")


def test_approved_twice_at_once_grants_once_and_tells_once(model: GpuModel) -> None:
    one, two = directors()
    request = at_the_last_step(active_project(), model, 40)
    assert sorted(at_once(vote(request, one), vote(request, two))) == ["MeanwhileChanged", "done"]
    assert [claim.guaranteed for claim in Claim.objects.filter(request=request)] == [40]
    approval = str(asking.approval(request).pk)
    assert Notification.objects.filter(topic="approvals.approved", subject_id=approval).count() == 1


def test_approved_and_refused_at_once_is_one_of_them(model: GpuModel) -> None:
    one, two = directors()
    request = at_the_last_step(active_project(), model, 40)
    ends = at_once(vote(request, one), vote(request, two, "reject"))
    request.refresh_from_db()
    assert sorted(ends) == ["MeanwhileChanged", "done"]
    assert Claim.objects.count() == (1 if request.state == "approved" else 0)


def test_approved_and_withdrawn_at_once_is_one_of_them(model: GpuModel) -> None:
    one, _two = directors()
    project = active_project()
    request = at_the_last_step(project, model, 40)
    lead = asking.lead_of(project)
    ends = at_once(vote(request, one), lambda: services.request_withdraw(actor=lead, request_id=request.pk))
    request.refresh_from_db()
    approval = Approval.objects.get(subject_id=request.pk, kind="quota_request")
    assert (ends, request.state, approval.state) in (
        (["done", "IllegalTransition"], "approved", "approved"),
        (["MeanwhileChanged", "done"], "withdrawn", "withdrawn"),
    )
    assert Claim.objects.count() == (1 if request.state == "approved" else 0)


def test_of_two_approvals_for_the_last_gpus_one_waits_on(model: GpuModel) -> None:
    one, two = directors()
    requests = [at_the_last_step(active_project(), model, 64) for _ in range(2)]
    ends = at_once(vote(requests[0], one), vote(requests[1], two))
    assert sorted(ends) == ["ExceedsFree", "done"]
    assert free_between(model, Interval(clock.now())) == 0
    assert sorted(asking.approval(request).state for request in requests) == ["approved", "waiting"]
    assert sorted(QuotaRequest.objects.values_list("state", flat=True)) == ["approved", "submitted"]


def test_submitted_and_withdrawn_at_once_leaves_no_question_without_its_request(model: GpuModel) -> None:
    project = active_project()
    lead, draft = asking.lead_of(project), asking.draft(project, model, 40)
    at_once(
        lambda: services.request_submit(actor=lead, request_id=draft.pk),
        lambda: services.request_withdraw(actor=lead, request_id=draft.pk),
    )
    draft.refresh_from_db()
    open_now = Approval.objects.filter(subject_id=draft.pk, kind="quota_request", state="waiting").count()
    assert (draft.state, open_now) in (("submitted", 1), ("withdrawn", 0))


def test_submitted_twice_at_once_is_asked_once(model: GpuModel) -> None:
    project = active_project()
    lead, draft = asking.lead_of(project), asking.draft(project, model, 40)
    act = lambda: services.request_submit(actor=lead, request_id=draft.pk)  # noqa: E731 - twice the same
    assert sorted(at_once(act, act)) in (["IllegalTransition", "done"], ["MeanwhileChanged", "done"])
    assert Approval.objects.filter(kind="quota_request").count() == 1


def test_two_drafts_for_one_model_submitted_at_once(model: GpuModel) -> None:
    project = active_project()
    lead, drafts = asking.lead_of(project), [asking.draft(project, model, count) for count in (40, 48)]
    acts = [lambda pk=row.pk: services.request_submit(actor=lead, request_id=pk) for row in drafts]
    assert sorted(at_once(*acts)) == ["RequestOpen", "done"]


def test_a_form_sent_twice_at_once_makes_one_request(model: GpuModel) -> None:
    project = active_project()
    facts: services.RequestFacts = {"gpu_model_id": model.pk, "guaranteed": 40, "reason": "Because"}
    sending = services.RequestSending(facts, uuid4(), "quotas.request", {"a": ["b"]}, is_submission=True)
    lead = asking.lead_of(project)
    act = lambda: services.request_send_new(actor=lead, project_id=project.pk, sending=sending)  # noqa: E731 - twice the same
    assert at_once(act, act) == ["done", "done"]
    assert QuotaRequest.objects.count() == Approval.objects.filter(kind="quota_request").count() == 1


def test_approved_while_the_project_closes_leaves_nothing_behind(model: GpuModel) -> None:
    one, _two = directors()
    project = active_project()
    request = at_the_last_step(project, model, 40)
    admin = people.person("closer", Role.ADMIN)
    ends = at_once(
        vote(request, one),
        lambda: project_close(actor=admin, project_id=project.pk, reason="Over"),
    )
    request.refresh_from_db()
    assert ends in (["done", "done"], ["NoResources", "done"])
    while deliver_due():
        pass
    request.refresh_from_db()
    assert request.state == ("approved" if ends[0] == "done" else "withdrawn")
    assert free_between(model, Interval(clock.now())) == 64
    assert asking.approval(request).state == request.state
