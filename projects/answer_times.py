"""How long registrations wait for their answer, from what was really decided."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from kernel.models import StateChange
from projects.models import Project

LOOKED_AT = timedelta(days=90)
LEAST_ANSWERS = 3
"""Fewer say nothing about what is typical."""
ANSWERS = ("approve", "return", "reject")


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """``typical_s``: the median from a submission to its answer; ``count``: of how many."""

    typical_s: float
    count: int


def answer_time(now: datetime) -> AnswerTime | None:
    """Of the answers of the last 90 days; None where there were too few. One statement."""
    label = Project._meta.label_lower
    steps = StateChange.objects.filter(
        subject_type=label, machine=Project.machine.name, event__in=("submit", "withdraw", *ANSWERS)
    )
    # A submission may lie before the days that are looked at: twice as far back is far enough for nearly all.
    rows = steps.filter(at__gte=now - 2 * LOOKED_AT).order_by("id").values_list("subject_id", "event", "at")
    waits = _waits(rows, since=now - LOOKED_AT)
    return AnswerTime(median(waits), len(waits)) if len(waits) >= LEAST_ANSWERS else None


def _waits(rows: Iterable[tuple[str, str, datetime]], since: datetime) -> list[float]:
    """Seconds from each submission to its answer, for answers since then."""
    asked: dict[str, datetime] = {}
    waits = []
    for project, event, at in rows:
        if event == "submit":
            asked[project] = at
        elif event in ANSWERS and project in asked and at >= since:
            waits.append((at - asked[project]).total_seconds())
        if event != "submit":
            asked.pop(project, None)
    return waits
