"""Home: what needs one now. Leads and researchers see their projects and jobs, organisation roles the whole first."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Person, Role
from accounts.policies import has_role, require_role, require_signed_in
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from monitoring.selectors.latest import NOTHING_HELD, Utilisation, projects_now
from portal.pages.allotment import Allotment, allotments
from portal.pages.cost import NOTHING, Cost, Spent, spent_by
from portal.pages.jobs import counted, job_rows
from portal.pages.news import news_for
from portal.pages.supply import Supply, supply_now
from portal.pages.waiting import counted as waiting_count
from portal.pages.waiting import waiting_for
from projects.models import Milestone, Project, Tier
from projects.policies import SEES_ALL
from projects.policies import visible_to as visible_projects
from projects.selectors import tier_at
from projects.states import ProjectState
from quotas.selectors import promised_beside_projects_at
from scheduling.models import Job
from scheduling.selectors import listed
from scheduling.selectors.pieces import pieces_between
from scheduling.states import LIVE, JobState

MOST_JOBS = 12
MOST_PROJECTS = 20
SHOWN = (ProjectState.ACTIVE, ProjectState.SUBMITTED, ProjectState.SUSPENDED, ProjectState.DRAFT)


@dataclass(frozen=True, slots=True)
class ProjectRow:
    project: Project
    tier: Tier | None
    total: Allotment
    has_quota: bool
    utilisation: Utilisation
    milestone: Milestone | None
    is_late: bool
    days_late: int


@dataclass(frozen=True, slots=True)
class Organisation:
    """The whole at a glance, for those who look at it."""

    projects: dict[str, int]
    jobs: dict[str, int]
    waits_since: Any
    supply: list[Supply]
    beside_projects: int

    @property
    def total(self) -> Supply:
        return Supply.total(self.supply)


@dataclass(frozen=True, slots=True)
class Spending:
    """This month so far: each project that cost anything, and all of them."""

    first: date
    rows: list[tuple[Project, Cost]]
    whole: Cost
    currency: str


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The page at ``/``."""
    person = require_signed_in(request.user)
    projects = _own_projects(person)
    jobs = job_rows(listed(person).filter(owner=person), MOST_JOBS)
    sees_all = has_role(person, *SEES_ALL)
    rows = _project_rows(projects)
    waiting = waiting_for(person)
    context: dict[str, Any] = {
        "today": local_day(clock.now()),
        "waiting": waiting,
        "waiting_count": waiting_count(waiting),
        "projects": rows,
        "scale": max((row.total.bar_limit for row in rows), default=1) or 1,
        "jobs": jobs,
        "job_counts": counted(jobs),
        "sees_all": sees_all,
        "spending": _spending(projects) if projects else None,
        "news": news_for(person, projects, sees_all=sees_all),
        "can_submit_jobs": any(project.state == ProjectState.ACTIVE for project in projects),
        "is_admin": has_role(person, Role.ADMIN),
        "reads_audit": has_role(person, Role.ADMIN, Role.AUDITOR),
    }
    return render(request, "portal/home.html", context)


@require_GET
def organisation(request: HttpRequest) -> HttpResponse:
    """``/organisation``: the part of the home page that shows the whole, again every minute."""
    person = require_role(request.user, *SEES_ALL)
    whole = _organisation(person)
    context = {
        "organisation": whole,
        "supply": whole.supply,
        "total": whole.total,
        "supply_scale": max((row.capacity for row in whole.supply), default=1) or 1,
        "is_director": has_role(person, Role.DIRECTOR),
        "is_admin": has_role(person, Role.ADMIN),
    }
    return render(request, "portal/home/_organisation.html", context)


def _own_projects(person: Person) -> list[Project]:
    rows = visible_projects(person).filter(memberships__person=person, memberships__left_at__isnull=True)
    return list(rows.filter(state__in=SHOWN).distinct().order_by("name")[:MOST_PROJECTS])


def _project_rows(projects: list[Project]) -> list[ProjectRow]:
    ids = [project.pk for project in projects]
    if not ids:
        return []
    tiers, held, now = tier_at(ids, clock.now()), allotments(ids), projects_now(ids)
    milestones, today = _next_milestones(ids), local_day(clock.now())
    return [
        ProjectRow(
            project,
            tiers.get(project.pk),
            held[project.pk].total,
            bool(held[project.pk].rows),
            now.get(project.pk, NOTHING_HELD),
            milestones.get(project.pk),
            late > timedelta(),
            late.days,
        )
        for project in projects
        for late in [_lateness(milestones.get(project.pk), today)]
    ]


def _next_milestones(project_ids: list[int]) -> dict[int, Milestone]:
    rows = Milestone.objects.filter(project__in=project_ids, met_on__isnull=True)
    found: dict[int, Milestone] = {}
    for row in rows.order_by("due_on", "id"):
        found.setdefault(row.project_id, row)
    return found


def _lateness(milestone: Milestone | None, today: date) -> timedelta:
    return today - milestone.due_on if milestone is not None else timedelta()


def _organisation(person: Person) -> Organisation:
    """Ten statements."""
    states = visible_projects(person).order_by().values_list("state").annotate(count=Count("pk"))
    jobs = Job.objects.aggregate(
        running=Count("pk", filter=Q(state__in=LIVE)),
        waiting=Count("pk", filter=Q(state=JobState.QUEUED)),
        since=Min("queued_at", filter=Q(state=JobState.QUEUED)),
    )
    return Organisation(dict(states), jobs, jobs["since"], supply_now(), promised_beside_projects_at(clock.now()))


def _spending(projects: list[Project]) -> Spending | None:
    """None where nothing was spent on real GPUs this month. Two statements."""
    now = clock.now()
    first = local_day(now).replace(day=1)
    within = Interval(day_bounds(first).start, now)
    spent = spent_by(pieces_between(within.start, now, [p.pk for p in projects]), within, lambda piece: piece.project)
    if not spent:
        return None
    whole = Spent()
    for part in spent.values():
        whole.include(part)
    currencies = list(whole.amounts)
    rows = [(project, spent[project.pk].cost if project.pk in spent else NOTHING) for project in projects]
    shown = [(project, cost) for project, cost in rows if cost is not NOTHING]
    return Spending(first, shown, whole.cost, currencies[0] if len(currencies) == 1 else "")
