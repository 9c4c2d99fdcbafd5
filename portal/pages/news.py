"""What changed since yesterday: steps of own jobs and projects, newest first."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse

from accounts.models import Person
from kernel import clock
from kernel.models import StateChange
from projects.models import Project
from scheduling.models import Job
from scheduling.selectors import visible_to
from scheduling.states import OVER, JobState

SINCE = timedelta(hours=24)
MOST = 12
TOLD = frozenset({JobState.RUNNING, JobState.PAUSED, *OVER})
"""Steps of a job that are news; the ones between are not."""


@dataclass(frozen=True, slots=True)
class News:
    at: datetime
    name: str
    url: str
    state: str
    reason: str


def news_for(person: Person, projects: Collection[Project]) -> list[News]:
    """Two statements."""
    since = clock.now() - SINCE
    recent = Q(ended_at__gte=since) | Q(ended_at__isnull=True)
    jobs = {
        str(pk): name for pk, name in visible_to(person).filter(recent, owner=person).values_list("pk", "name")[:500]
    }
    names = {str(project.pk): project.name for project in projects}
    about_jobs = Q(subject_type=Job._meta.label_lower, subject_id__in=list(jobs), to_state__in=TOLD)
    about_projects = Q(subject_type=Project._meta.label_lower, subject_id__in=list(names))
    changes = StateChange.objects.filter(about_jobs | about_projects, at__gte=since).order_by("-id")[:MOST]
    return [_news(change, jobs, names) for change in changes]


def _news(change: StateChange, jobs: dict[str, str], projects: dict[str, str]) -> News:
    is_job = change.subject_type == Job._meta.label_lower
    names, page = (jobs, "scheduling:job") if is_job else (projects, "project")
    url = reverse(page, args=[change.subject_id])
    return News(change.at, names[change.subject_id], url, change.to_state, change.reason)
