"""What runs under a guarantee, for the room below that tells people when one ends."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import F

from scheduling.models import Attempt


def protected_now(project_ids: Iterable[int]) -> dict[tuple[int, int], list[int]]:
    """By project and GPU model: the milli-GPU of each non-preemptible job that runs, oldest start first.

    One statement. What has not ended runs: *unknown* is never read as finished.
    """
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    live = Attempt.objects.filter(ended_at__isnull=True, is_preemptible=False, job__project__in=list(project_ids))
    rows = live.order_by(F("started_at").asc(nulls_first=True), "assigned_at", "pk")
    for project, model, gpus in rows.values_list("job__project_id", "gpu_model_id", "job__milli_gpus"):
        found[project, model].append(gpus)
    return dict(found)
