"""What changed since yesterday, newest first: own jobs and projects; for organisation roles all projects and nodes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Person
from inventory.models import Node
from kernel import clock
from kernel.looks import model_title
from kernel.models import StateChange
from projects.models import Project
from projects.policies import visible_to as visible_projects
from quotas.models import Claim, Resource
from scheduling.models import Job
from scheduling.selectors import visible_to
from scheduling.states import OVER, JobState

SINCE = timedelta(hours=24)
MOST = 14
READ = 200
"""Steps that are read: more than are shown, for many nodes at once become one line."""
TOGETHER = 3
TOLD = frozenset({JobState.RUNNING, JobState.PAUSED, *OVER})
"""Steps of a job that are news; the ones between are not."""
_STEPS = {
    "approve": gettext_lazy("approved"),
    "reject": gettext_lazy("rejected"),
    "return": gettext_lazy("returned with a question"),
    "submit": gettext_lazy("submitted"),
    "withdraw": gettext_lazy("withdrawn"),
    "suspend": gettext_lazy("suspended"),
    "resume": gettext_lazy("resumed"),
    "close": gettext_lazy("closed"),
}
_JOB, _PROJECT, _NODE = (model._meta.label_lower for model in (Job, Project, Node))
_PAGES = {_JOB: "scheduling:job", _PROJECT: "project", _NODE: "node"}


@dataclass(frozen=True, slots=True)
class News:
    """``word`` says a step better than the state it led to; ``what`` stands alone where there is no state."""

    at: datetime
    name: str
    url: str
    state: str = ""
    reason: str = ""
    word: str = ""
    what: str = ""
    more: str = ""
    is_node: bool = False


def news_for(person: Person, projects: Collection[Project], *, sees_all: bool = False) -> list[News]:
    """Three statements; five for the whole organisation."""
    since = clock.now() - SINCE
    recent = Q(ended_at__gte=since) | Q(ended_at__isnull=True)
    jobs = {
        str(pk): name for pk, name in visible_to(person).filter(recent, owner=person).values_list("pk", "name")[:500]
    }
    mine = {str(project.pk): project.name for project in projects}
    about = Q(subject_type=_JOB, subject_id__in=list(jobs), to_state__in=TOLD)
    about |= Q(subject_type__in=(_PROJECT, _NODE)) if sees_all else Q(subject_type=_PROJECT, subject_id__in=list(mine))
    changes = list(StateChange.objects.filter(about, at__gte=since).order_by("-id")[:READ])
    names = {_JOB: jobs, _PROJECT: mine, _NODE: {}}
    if sees_all:
        names[_PROJECT] = _names(visible_projects(person), changes, _PROJECT)
        names[_NODE] = _names(Node.objects.all(), changes, _NODE)
    told = _together([_news(change, names[change.subject_type]) for change in _known(changes, names)])
    told += _quotas(person, None if sees_all else [project.pk for project in projects], since)
    return sorted(told, key=lambda news: news.at, reverse=True)[:MOST]


def _together(news: list[News]) -> list[News]:
    """Nodes that took the same step one after the other are one line: a rack comes back as a whole."""
    lines: list[News] = []
    for _key, same in groupby(news, lambda item: (item.is_node, item.state if item.is_node else item.url, item.reason)):
        run = list(same)
        if not run[0].is_node or len(run) < TOGETHER:
            lines += run
            continue
        what = _("and %(count)s more nodes") % {"count": len(run) - 1}
        lines.append(replace(run[0], more=what))
    return lines


def _known(changes: Iterable[StateChange], names: dict[str, dict[str, str]]) -> Iterable[StateChange]:
    return (change for change in changes if change.subject_id in names[change.subject_type])


def _names(rows: QuerySet[Any], changes: Iterable[StateChange], subject: str) -> dict[str, str]:
    ids = {int(change.subject_id) for change in changes if change.subject_type == subject}
    return {str(pk): name for pk, name in rows.filter(pk__in=ids).values_list("pk", "name")}


def _news(change: StateChange, names: dict[str, str]) -> News:
    url = reverse(_PAGES[change.subject_type], args=[change.subject_id])
    name = names[change.subject_id] or _("Draft without a name")
    word = str(_STEPS.get(change.event, "")) if change.subject_type == _PROJECT else ""
    return News(change.at, name, url, change.to_state, change.reason, word, is_node=change.subject_type == _NODE)


def _quotas(person: Person, project_ids: Collection[int] | None, since: datetime) -> list[News]:
    """Grants and ends of GPU quotas; ``project_ids`` None: of all projects."""
    claims = Claim.objects.filter(resource=Resource.GPU, project__in=visible_projects(person))
    if project_ids is not None:
        claims = claims.filter(project__in=project_ids)
    claims = claims.filter(Q(granted_at__gte=since) | Q(ended_at__gte=since)).select_related("project", "gpu_model")
    told = []
    for claim in claims.order_by("-pk")[:MOST]:
        url = reverse("quotas:project", args=[claim.project_id])
        model = model_title(claim.gpu_model.name if claim.gpu_model else "")
        words = {"gpus": claim.guaranteed, "model": model}
        if claim.ended_at is not None and claim.ended_at >= since:
            text, at, reason = _("quota of %(gpus)s %(model)s ended"), claim.ended_at, claim.end_reason
        else:
            text, at, reason = _("got %(gpus)s %(model)s guaranteed"), claim.granted_at, claim.reason
        told.append(News(at, claim.project.name if claim.project else "", url, reason=reason, what=text % words))
    return told
