"""When nobody could say what a project's jobs did: an attempt was *unknown*, its node silent."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from kernel.intervals import Interval
from kernel.models import StateChange
from scheduling.models import Attempt
from scheduling.states import AttemptState


def unseen_between(project_id: int, start: datetime, end: datetime) -> list[Interval]:
    """Stretches of ``[start, end)`` with an attempt of the project out of sight, joined, in order. Two statements."""
    attempts = Attempt.objects.filter(job__project=project_id, assigned_at__lt=end)
    attempts = attempts.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=start))
    ids = [str(pk) for pk in attempts.values_list("pk", flat=True)]
    changes = StateChange.objects.filter(subject_type=Attempt._meta.label_lower, subject_id__in=ids, at__lt=end)
    crossed = Q(from_state=AttemptState.UNKNOWN) | Q(to_state=AttemptState.UNKNOWN)
    since: dict[str, datetime] = {}
    found: list[tuple[datetime, datetime]] = []
    for attempt, to_state, at in changes.filter(crossed).order_by("pk").values_list("subject_id", "to_state", "at"):
        if to_state == AttemptState.UNKNOWN:
            since.setdefault(attempt, at)
        elif attempt in since:
            found.append((since.pop(attempt), at))
    found += [(at, end) for at in since.values()]
    return joined(((max(begin, start), until) for begin, until in found), end)


def joined(spans: Iterable[tuple[datetime, datetime]], end: datetime) -> list[Interval]:
    """The union of these spans, cut at ``end``."""
    whole: list[tuple[datetime, datetime]] = []
    for begin, until in sorted((begin, min(until, end)) for begin, until in spans if begin < min(until, end)):
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(whole[-1][1], until))
        else:
            whole.append((begin, until))
    return [Interval(begin, until) for begin, until in whole]
