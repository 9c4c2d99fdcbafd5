"""Requests for tests, made and decided by the acts of life."""

from datetime import datetime, timedelta
from typing import Any

from accounts.models import Person, Role
from accounts.tests import factories as people
from approvals.models import Approval
from approvals.services import Ballot, approval_vote
from inventory.models import GpuModel
from kernel import clock
from projects.models import Project
from quotas import services
from quotas.models import QuotaRequest
from quotas.requests.selectors import approval_of


def lead_of(project: Project) -> Person:
    return Person.objects.get(pk=project.created_by_id)


def draft(project: Project, model: GpuModel, guaranteed: int, **facts: Any) -> QuotaRequest:
    """A draft by the project's lead, without a limit unless one is named."""
    stated: services.RequestFacts = {"gpu_model_id": model.pk, "guaranteed": guaranteed, "reason": "Because", **facts}  # type: ignore[typeddict-item]
    return services.request_create(actor=lead_of(project), project_id=project.pk, facts=stated)


def submitted(project: Project, model: GpuModel, guaranteed: int, **facts: Any) -> QuotaRequest:
    row = draft(project, model, guaranteed, **facts)
    return services.request_submit(actor=lead_of(project), request_id=row.pk)


def decider(name: str = "first", role: Role = Role.ADMIN) -> Person:
    """Somebody who may decide and has nothing to do with any project."""
    found = Person.objects.filter(username=f"decider-{name}").first()
    return found or people.person(f"decider-{name}", role)


def approval(request: QuotaRequest) -> Approval:
    found = approval_of(request)
    assert found is not None
    return found


def vote(request: QuotaRequest, answer: str = "approve", *, by: Person | None = None, **terms: Any) -> Approval:
    """One vote by an admin, or by ``by``."""
    if answer != "approve":
        terms = {"comment": "Because", **terms}
    return approval_vote(actor=by or decider(), approval_id=approval(request).pk, ballot=Ballot(answer, **terms))


def approve(request: QuotaRequest, **terms: Any) -> QuotaRequest:
    """Through every step: an admin, then a director where one is needed."""
    vote(request, **terms)
    if approval(request).is_open:
        vote(request, by=decider("second", Role.DIRECTOR))
    request.refresh_from_db()
    return request


def in_days(days: float) -> datetime:
    return clock.now() + timedelta(days=days)
