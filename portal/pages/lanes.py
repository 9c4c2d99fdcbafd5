"""Projects that left their lane: use far from what was promised, milestones late, jobs waiting at the limit."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from accounts.policies import require_role
from kernel import clock
from kernel.calendar import local_day
from kernel.formats import number
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from portal.pages.allotment import Allotment, allotments
from projects.models import Milestone, Project, Tier
from projects.policies import SEES_ALL, visible_to
from projects.selectors import tier_at
from projects.states import ProjectState
from quotas.models import ClaimKind, Resource
from quotas.selectors import live_claims
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.selectors.pieces import Piece, pieces_between
from scheduling.states import JobState

BACK = timedelta(days=14)
LEAST_PROMISED = timedelta(days=3)
"""A guarantee that is younger says nothing about how it is used."""
FAR_BELOW = 0.5
"""Held on average less than this part of the guarantee."""
SHOWN = 6


@dataclass(frozen=True, slots=True)
class Lane:
    """One project and what happened. ``weight`` orders: GPUs promised and not held, or days late."""

    project: Project
    tier: Tier | None
    icon: str
    words: str
    held: Allotment
    weight: float


@dataclass(frozen=True, slots=True)
class Promise:
    """Means over the time looked back on, in GPUs; ``lasted``: how long anything was guaranteed."""

    guaranteed: float
    held: float
    lasted: timedelta

    @property
    def is_far_below(self) -> bool:
        return self.lasted >= LEAST_PROMISED and self.guaranteed >= 1 and self.held < FAR_BELOW * self.guaranteed


@require_GET
def lanes(request: HttpRequest) -> HttpResponse:
    """``/lanes``, for those who look at the whole organisation; htmx gets the part for the home page."""
    person = require_role(request.user, *SEES_ALL)
    rows = lanes_of(visible_to(person).filter(state=ProjectState.ACTIVE).order_by("name"))
    is_part = request.headers.get("HX-Request") == "true"
    context = {
        "lanes": rows[:SHOWN] if is_part else rows,
        "lane_count": len(rows),
        "scale": max((row.held.bar_limit for row in rows), default=1) or 1,
        "at": clock.now(),
        "is_part": is_part,
    }
    return render(request, "portal/_lanes.html" if is_part else "portal/lanes.html", context)


def lanes_of(projects: Iterable[Project]) -> list[Lane]:
    """The farthest first. Eight statements."""
    found = list(projects)
    ids = [project.pk for project in found]
    now = clock.now()
    promises, held, tiers = promises_of(ids, now), allotments(ids), tier_at(ids, now)
    late, waiting = _latest_milestone(ids, local_day(now)), _waiting(ids)
    rows = []
    for project in found:
        told = _told(promises[project.pk], held[project.pk].total, late.get(project.pk), waiting.get(project.pk, 0))
        if told is not None:
            icon, words, weight = told
            rows.append(Lane(project, tiers.get(project.pk), icon, words, held[project.pk].total, weight))
    return sorted(rows, key=lambda row: (-row.weight, row.project.name))


def _told(
    promise: Promise, held: Allotment, late: tuple[str, int] | None, waiting: int
) -> tuple[str, str, float] | None:
    """What happened, as icon, sentence and weight; None: it keeps to its lane."""
    parts = []
    icon, weight = "", 0.0
    if promise.is_far_below:
        words = {"held": number(promise.held, 1 if promise.held < 10 else 0), "promised": number(promise.guaranteed)}
        parts.append(_("Holds %(held)s of %(promised)s promised") % words)
        icon, weight = "arrow-down", promise.guaranteed - promise.held
    if late is not None:
        name, days = late
        text = ngettext("“%(milestone)s” %(days)s day late", "“%(milestone)s” %(days)s days late", days)
        parts.append(text % {"milestone": name, "days": days})
        icon, weight = icon or "calendar-late", weight + days / 7
    if waiting and held.limit is not None and held.used >= held.limit > 0:
        text = ngettext("At its limit, %(count)s job waits", "At its limit, %(count)s jobs wait", waiting)
        parts.append(text % {"count": waiting})
        icon, weight = icon or "arrow-up", weight + waiting / 10
    return (icon, ", ".join(parts), weight) if parts else None


def promises_of(project_ids: Collection[int], now: datetime) -> dict[int, Promise]:
    """What was guaranteed and what was held over the time looked back on. Two statements."""
    within = Interval(now - BACK, now)
    held = held_means(pieces_between(within.start, now, project_ids))
    claims = live_claims().filter(project__in=project_ids, resource=Resource.GPU, guaranteed__gt=0)
    claims = claims.exclude(kind=ClaimKind.EMERGENCY).filter(during__overlap=to_range(within))
    promised: dict[int, float] = defaultdict(float)
    lasted: dict[int, timedelta] = defaultdict(timedelta)
    for project, during, guaranteed in claims.values_list("project_id", "during", "guaranteed"):
        part = to_interval(during).intersection(within)
        length = timedelta(seconds=part.seconds(now)) if part else timedelta()
        promised[project or 0] += guaranteed * (length / BACK)
        lasted[project or 0] = max(lasted[project or 0], length)
    return {pk: Promise(promised[pk], held.get(pk, 0.0), lasted[pk]) for pk in project_ids}


def held_means(pieces: Sequence[Piece]) -> dict[int, float]:
    """Mean number of GPUs held over the time looked back on, by project."""
    sums: dict[int, float] = defaultdict(float)
    for piece in pieces:
        sums[piece.project] += piece.milli * ((piece.until - piece.start) / BACK)
    return {project: milli / MILLI for project, milli in sums.items()}


def _latest_milestone(project_ids: Collection[int], today: date) -> dict[int, tuple[str, int]]:
    """The milestone of each project that is late the longest: its name, and by how many days."""
    late = Milestone.objects.filter(project__in=project_ids, met_on__isnull=True, due_on__lt=today)
    found: dict[int, tuple[str, int]] = {}
    for project, name, due_on in late.order_by("due_on", "pk").values_list("project_id", "name", "due_on"):
        found.setdefault(project, (name, (today - due_on).days))
    return found


def _waiting(project_ids: Collection[int]) -> dict[int, int]:
    jobs = Job.objects.filter(project__in=project_ids, state=JobState.QUEUED).order_by()
    return dict(jobs.values_list("project_id").annotate(count=Count("pk")))
