"""Answers what quotas asks: how much of a quota is in use at an instant."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from kernel import clock
from quotas.models import Resource
from quotas.usage import QuotaKey, Usage
from scheduling.engine import MILLI
from scheduling.models import Attempt


def used_at(at: datetime, project_ids: Iterable[int]) -> Usage | None:
    """GPUs, cores and bytes of memory that jobs hold, from the decision until their attempt has ended.

    None for the future, of which nobody can tell.
    """
    if at > clock.now():
        return None
    live = Attempt.objects.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=at), assigned_at__lte=at)
    used: dict[QuotaKey, float] = defaultdict(float)
    rows = live.filter(job__project__in=list(project_ids)).values_list(
        "job__project_id", "gpu_model_id", "job__milli_gpus", "job__nodes_exact", "job__cpus", "job__memory_bytes"
    )
    for project, model, milli, nodes, cpus, memory_bytes in rows:
        used[(project, Resource.GPU, model)] += milli / MILLI
        used[(project, Resource.CPU, None)] += cpus * (nodes or 1)
        used[(project, Resource.MEMORY, None)] += memory_bytes * (nodes or 1)
    return dict(used)
