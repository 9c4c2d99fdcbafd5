"""Reading requests. Every query for a person starts at ``visible_requests``."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from accounts.models import Person
from approvals.models import Answer, Approval, Vote
from approvals.policies import visible_to as visible_approvals
from approvals.selectors import approvals_of
from projects import policies
from projects.policies import visible_to
from projects.states import ProjectState
from quotas.models import QuotaRequest, RequestAttachment
from quotas.states import EDITABLE, OPEN, RequestState

KIND = "quota_request"


def visible_requests(person: object) -> QuerySet[QuotaRequest]:
    """The requests of projects that this person may know of, newest first."""
    rows = QuotaRequest.objects.filter(project__in=visible_to(person))
    return rows.select_related("project", "gpu_model", "created_by", "submitted_by").order_by("-pk")


def listed_requests(person: object) -> QuerySet[QuotaRequest]:
    """The same for lists: without drafts that were discarded."""
    return visible_requests(person).exclude(Q(state=RequestState.WITHDRAWN) & Q(submitted_at__isnull=True))


def open_request(project_id: int, gpu_model_id: int) -> QuotaRequest | None:
    """What is asked for and not decided, of a project and GPU model: at most one."""
    rows = QuotaRequest.objects.filter(project=project_id, gpu_model=gpu_model_id, state__in=OPEN)
    return rows.select_related("project", "gpu_model").first()


def approval_of(request: QuotaRequest) -> Approval | None:
    """The approval of a request, decided or not; None for one that was never submitted."""
    return approvals_of(KIND, [request.pk]).get(request.pk)


def visible_attachment(person: object, request_id: int, attachment_id: int) -> RequestAttachment | None:
    """A file of a request that this person may know of, or has to decide on: a stand-in need not know the project."""
    rows = RequestAttachment.objects.filter(pk=attachment_id, request=request_id)
    decides = visible_approvals(person).filter(kind=KIND).values("subject_id")
    return rows.filter(Q(request__project__in=visible_to(person)) | Q(request__in=decides)).first()


def can_now(person: object, request: QuotaRequest) -> list[str]:
    """What this person could do with it at this moment: rights and states together."""
    if not policies.may(person, "request_quota", request.project):
        return []
    can = {"withdraw"} & set(QuotaRequest.machine.events(request.state))
    if request.project.state == ProjectState.ACTIVE:
        can |= {"clone"} | ({"edit", "submit", "attach"} if request.state in EDITABLE else set())
    return sorted(can)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody wants to know before it is decided."""

    text: str
    by: Person
    at: datetime


def open_question(request: QuotaRequest) -> Question | None:
    """The question with which a request was asked back; None where none is open."""
    if request.state != RequestState.RETURNED:
        return None
    votes = Vote.objects.filter(approval__kind=KIND, approval__subject_id=request.pk, answer=Answer.RETURN)
    vote = votes.select_related("person").order_by("-pk").first()
    return None if vote is None else Question(vote.comment, vote.person, vote.at)
