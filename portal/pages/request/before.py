"""How requests like this one were decided. Counts only: whose they were is no matter of who asks."""

from dataclasses import dataclass
from datetime import datetime

from approvals.models import Approval
from approvals.states import ApprovalState
from portal.pages.approval.evidence.likeness import LOOKED_BACK, Decided, Traits, like_cases
from quotas.models import QuotaRequest
from quotas.requests.selectors import KIND
from quotas.states import RequestState

MOST_LOOKED_AT = 500
MOST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Before:
    """Of the last ``count`` like this: ``granted`` as asked, ``in_part`` with less, the others declined."""

    count: int
    granted: int
    in_part: int

    @property
    def declined(self) -> int:
        return self.count - self.granted - self.in_part


def before(this: Traits, now: datetime) -> Before:
    """What people decided in the last nine months. Two statements."""
    final = (ApprovalState.APPROVED, ApprovalState.REJECTED)
    rows = Approval.objects.filter(kind=KIND, state__in=final, is_automatic=False, decided_at__gte=now - LOOKED_BACK)
    decided = list(
        rows.order_by("-decided_at", "-pk").values_list("subject_id", "measures", "decided_at")[:MOST_LOOKED_AT]
    )
    asked = QuotaRequest.objects.filter(pk__in=[pk for pk, *_more in decided]).select_related("project", "gpu_model")
    requests = {row.pk: row for row in asked}
    cases = [
        Decided(pk, traits_of(requests[pk], measures), at, requests[pk].state == RequestState.APPROVED)
        for pk, measures, at in decided
        if pk in requests and at is not None
    ]
    like = like_cases(this, cases, now)[:MOST_SHOWN]
    found = [requests[case.id] for case in like if case.is_approved]
    in_part = sum(_is_in_part(row) for row in found)
    return Before(len(like), len(found) - in_part, in_part)


def traits_of(request: QuotaRequest, measures: dict[str, object]) -> Traits:
    more = measures.get("gpus")
    model = request.gpu_model.name if request.gpu_model else ""
    return Traits(model, str(measures.get("tier") or ""), request.project.stage, more if isinstance(more, int) else 0)


def _is_in_part(request: QuotaRequest) -> bool:
    """Less was granted than was asked for, or for a shorter time."""
    granted, asked = request.granted_guaranteed or 0, request.guaranteed or 0
    return granted < asked or request.granted_limit != request.limit or request.granted_ends_at != request.ends_at
