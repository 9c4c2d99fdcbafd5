"""What this room does about news from below. Each handler may run twice."""

from kernel.models import OutboxEvent
from quotas import services
from quotas.models import QuotaRequest
from quotas.states import OPEN


def project_closed(event: OutboxEvent) -> None:
    """A closed project holds nothing any more. A suspended one keeps its claims: REG2 keeps it from using them."""
    services.project_claims_end(project_id=int(event.subject_id), reason="project closed")


def withdraw_requests(event: OutboxEvent) -> None:
    """A closed project asks for nothing any more. Each request alone, in a unit of its own."""
    rows = QuotaRequest.objects.filter(project=int(event.subject_id), state__in=OPEN).order_by("pk")
    for pk in list(rows.values_list("pk", flat=True)):
        services.request_withdraw_by_portal(request_id=pk, reason="project closed")


def capacity_changed(event: OutboxEvent) -> None:
    """A node that joined a dedicated pool is covered by the pool's claim."""
    for key in ("pool", "from_pool"):
        if event.data.get(key) is not None:
            services.pool_cover(pool_id=int(event.data[key]))
