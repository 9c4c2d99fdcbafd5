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
    many: str = ""
    """How others are told of with it, where they may be; ``what_of_many`` is then what befell them all."""
    what_of_many: str = ""


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
    told += _together(_quotas(person, None if sees_all else [project.pk for project in projects], since))
    return sorted(told, key=lambda news: news.at, reverse=True)[:MOST]


def _together(news: list[News]) -> list[News]:
    """What befell many one after the other is one line: a rack comes back as a whole, quotas are granted in a row."""
    lines: list[News] = []
    for kind, same in groupby(news, lambda item: (item.many, item.state, item.reason) if item.many else item.url):
        run = list(same)
        if isinstance(kind, str) or len(run) < TOGETHER:
            lines += run
        else:
            lines.append(replace(run[0], more=run[0].many % {"count": len(run) - 1}, what=run[0].what_of_many))
    return lines


def _known(changes: Iterable[StateChange], names: dict[str, dict[str, str]]) -> Iterable[StateChange]:
    return (change for change in changes if change.subject_id in names[change.subject_type])


def _names(rows: QuerySet[Any], changes: Iterable[StateChange], subject: str) -> dict[str, str]:
    ids = {int(change.subject_id) for change in changes if change.subject_type == subject}
    return {str(pk): name for pk, name in rows.filter(pk__in=ids).values_list("pk", "name")}


def _news(change: StateChange, names: dict[str, str]) -> News:
    url = reverse(_PAGES[change.subject_type], args=[change.subject_id])
    name = names[change.subject_id] or _("Draft without a name")
    many = _("and %(count)s more nodes") if change.subject_type == _NODE else ""
    word = str(_STEPS.get(change.event, "")) if change.subject_type == _PROJECT else ""
    return News(change.at, name, url, change.to_state, change.reason, word, many=many)


def _quotas(person: Person, project_ids: Collection[int] | None, since: datetime) -> list[News]:
    """Grants and ends of GPU quotas; ``project_ids`` None: of all projects."""
    claims = Claim.objects.filter(resource=Resource.GPU, project__in=visible_projects(person))
    if project_ids is not None:
        claims = claims.filter(project__in=project_ids)
    claims = claims.filter(Q(granted_at__gte=since) | Q(ended_at__gte=since)).select_related("project", "gpu_model")
    return [_quota(claim, since) for claim in claims.order_by("-pk")[:READ]]


def _quota(claim: Claim, since: datetime) -> News:
    gpus, model = claim.guaranteed or claim.limit or 0, model_title(claim.gpu_model.name if claim.gpu_model else "")
    name, url = claim.project.name if claim.project else "", reverse("quotas:project", args=[claim.project_id])
    ended_at = claim.ended_at
    if ended_at is not None and ended_at >= since:
        text, every, at, reason = _("quota of %(gpus)s %(model)s ended"), _("quota ended"), ended_at, claim.end_reason
    else:
        text = _("got %(gpus)s %(model)s guaranteed") if claim.guaranteed else _("may use up to %(gpus)s %(model)s")
        every, at, reason = _("got a quota"), claim.granted_at, claim.reason
    said = text % {"gpus": gpus, "model": model}
    return News(at, name, url, reason=reason, what=said, many=_("and %(count)s more"), what_of_many=every)
