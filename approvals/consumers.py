"""What this room does about news from below. Each handler may run twice."""

from approvals import services
from kernel.models import OutboxEvent


def role_revoked(event: OutboxEvent) -> None:
    """What somebody approved in a role that they no longer hold is decided again while it is open."""
    services.votes_judge_again(int(event.data["person_id"]))
    services.sweep()


def person_deactivated(_event: OutboxEvent) -> None:
    """Whoever may decide now in their place hears of it."""
    services.sweep()
