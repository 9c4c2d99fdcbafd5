"""How long a decision on a registration usually takes: the median of the last ones."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import median

from kernel import clock
from kernel.models import StateChange
from projects.models import Project

BACK = timedelta(days=180)
MOST = 400
LEAST_ANSWERS = 3
"""Fewer say nothing about what is usual."""
ANSWERS = frozenset({"approve", "reject", "return"})


def typical_answer() -> timedelta | None:
    """None where too few were decided in half a year. One statement."""
    since = clock.now() - BACK
    steps = StateChange.objects.filter(machine="project", subject_type=Project._meta.label_lower, at__gte=since)
    rows = steps.filter(event__in=[*ANSWERS, "submit"]).order_by("-pk").values_list("subject_id", "event", "at")[:MOST]
    return typical(reversed(list(rows)))


def typical(steps: Iterable[tuple[str, str, datetime]]) -> timedelta | None:
    """The median time from a submission to its answer; ``steps`` are (project, event, instant) in order."""
    asked: dict[str, datetime] = {}
    took: list[timedelta] = []
    for project, event, at in steps:
        if event == "submit":
            asked[project] = at
        elif project in asked:
            took.append(at - asked.pop(project))
    return timedelta(seconds=median(length.total_seconds() for length in took)) if len(took) >= LEAST_ANSWERS else None
