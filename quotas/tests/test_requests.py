"""Quota requests through the services: from the draft to what stands in the ledger."""

import pytest

from accounts.models import Role
from inventory.models import GpuModel
from projects.models import Project
from projects.tests.factories import active_project
from quotas import services
from quotas.errors import ExceedsFree
from quotas.models import Claim, ClaimKind
from quotas.selectors import Quota, quotas_at
from quotas.states import RequestState
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


def held(project: Project, model: GpuModel, days: float = 0) -> Quota:
    quotas = quotas_at(asking.in_days(days), [project.pk])
    return quotas.get((project.pk, "gpu", model.pk), Quota(0, 0))


def test_an_open_ended_raise_becomes_the_base(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=8)
    request = asking.submitted(project, model, 40, limit=48)
    assert request.state == RequestState.SUBMITTED
    assert asking.approve(request).state == RequestState.APPROVED
    assert held(project, model) == Quota(40, 48)
    claim = Claim.objects.get(request=request)
    assert (claim.kind, claim.source, claim.effective_to) == (ClaimKind.BASE, "request", None)
    assert (request.granted_guaranteed, request.granted_limit, request.granted_ends_at) == (40, 48, None)


def test_a_raise_for_a_time_comes_on_top_and_ends_by_itself(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    asking.approve(asking.submitted(project, model, 40, limit=48, ends_at=asking.in_days(30)))
    claim = Claim.objects.get(kind=ClaimKind.TEMPORARY)
    assert (claim.guaranteed, claim.limit) == (32, 32)
    assert held(project, model) == Quota(40, 48)
    assert held(project, model, 29) == Quota(40, 48)
    assert held(project, model, 31) == Quota(8, 16)


def test_granting_the_same_again_gives_nothing_more(project: Project, model: GpuModel) -> None:
    ends_at = asking.in_days(30)
    make.grant(project, model, 8, limit=16)
    asking.approve(asking.submitted(project, model, 40, limit=48, ends_at=ends_at))
    make.grant(project, model, 4, limit=16)
    asking.approve(asking.submitted(project, model, 40, limit=48, ends_at=ends_at))
    assert held(project, model) == Quota(40, 48)


def test_small_and_short_is_granted_by_the_portal(model: GpuModel, project: Project) -> None:
    request = asking.submitted(project, model, 1, ends_at=asking.in_days(14))
    assert request.state == RequestState.APPROVED
    assert asking.approval(request).is_automatic
    assert Claim.objects.get(request=request).granted_by is None


def test_more_than_is_free_when_it_is_decided_waits_on(project: Project, model: GpuModel) -> None:
    request = asking.submitted(project, model, 40)
    make.grant(active_project(), model, 30)
    asking.vote(request)
    with pytest.raises(ExceedsFree, match="40 asked, 30 of 60 usable"):
        asking.vote(request, by=asking.decider("second", Role.DIRECTOR))
    request.refresh_from_db()
    assert (request.state, asking.approval(request).state) == (RequestState.SUBMITTED, "waiting")
    assert services.request_withdraw(actor=asking.lead_of(project), request_id=request.pk).state == "withdrawn"
