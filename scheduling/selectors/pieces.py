"""Time on devices as plain pieces: what a table of many projects sums by day and prices."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Coalesce

from scheduling.models import DeviceAllocation


class Piece(NamedTuple):
    """A part of a device held within the time asked for; ``allocated_at`` may lie before ``start``."""

    project: int
    node: int
    is_simulated: bool
    milli: int
    allocated_at: datetime
    start: datetime
    until: datetime
    gpu_model: int


def pieces_between(start: datetime, end: datetime, project_ids: Collection[int]) -> list[Piece]:
    """What these projects held within ``[start, end)``, live ones up to ``end``. One statement."""
    ended_at = Coalesce("member__ended_at", "released_at")
    rows = DeviceAllocation.objects.annotate(until=ended_at).filter(allocated_at__lt=end)
    rows = rows.filter(Q(until__isnull=True) | Q(until__gt=start))
    rows = rows.filter(member__attempt__job__project__in=list(project_ids)).order_by("pk")
    found = rows.values_list(
        "member__attempt__job__project_id",
        "device__node_id",
        "device__is_simulated",
        "milli",
        "allocated_at",
        "until",
        "device__gpu_model_id",
    )
    return [
        Piece(project, node, simulated, milli, at, max(at, start), min(until or end, end), model)
        for project, node, simulated, milli, at, until, model in found
    ]
