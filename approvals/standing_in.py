"""Stand-ins that are over, for the page that folds them."""

from datetime import datetime

from django.db.models import QuerySet

from accounts.models import Person
from approvals.models import Delegation

MOST = 50


def past_delegations_of(person: Person, now: datetime) -> QuerySet[Delegation]:
    """Those that this person gave or got and that are over or were ended, newest first, at most ``MOST``."""
    rows = Delegation.objects.of(person.pk)
    rows = rows.exclude(pk__in=rows.not_over(now).values("pk"))
    return rows.select_related("principal", "stand_in", "approval").order_by("-during", "-pk")[:MOST]
