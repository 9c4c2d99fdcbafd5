"""What this room does about news from below. Each handler may run twice."""

from kernel.models import OutboxEvent
from quotas import services


def project_closed(event: OutboxEvent) -> None:
    """A closed project holds nothing any more. A suspended one keeps its claims: REG2 keeps it from using them."""
    services.project_claims_end(project_id=int(event.subject_id), reason="project closed")


def capacity_changed(event: OutboxEvent) -> None:
    """A node that joined a dedicated pool is covered by the pool's claim."""
    for key in ("pool", "from_pool"):
        if event.data.get(key) is not None:
            services.pool_cover(pool_id=int(event.data[key]))
