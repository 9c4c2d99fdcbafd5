"""Home: what waits for me, my projects, my jobs; for directors and admins also the whole supply."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Person, Role
from accounts.policies import has_role, require_signed_in
from kernel import clock
from kernel.calendar import local_day
from monitoring.selectors.latest import NOTHING_HELD, Utilisation, projects_now
from portal.pages.allotment import Allotment, allotments
from portal.pages.jobs import counted, job_rows
from portal.pages.news import news_for
from portal.pages.supply import supply_now
from portal.pages.waiting import waiting_for
from projects.models import Milestone, Project, Tier
from projects.policies import visible_to as visible_projects
from projects.selectors import tier_at
from projects.states import ProjectState
from scheduling.selectors import listed

MOST_JOBS = 15
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


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The page at ``/``."""
    person = require_signed_in(request.user)
    projects = _own_projects(person)
    jobs = job_rows(listed(person).filter(owner=person), MOST_JOBS)
    sees_supply = has_role(person, Role.DIRECTOR, Role.ADMIN, Role.AUDITOR)
    rows = _project_rows(projects)
    supply = supply_now() if sees_supply else []
    context: dict[str, Any] = {
        "today": local_day(clock.now()),
        "waiting": waiting_for(person),
        "projects": rows,
        "scale": max((row.total.bar_limit for row in rows), default=1) or 1,
        "jobs": jobs,
        "job_counts": counted(jobs),
        "supply": supply,
        "supply_scale": max((row.capacity for row in supply), default=1) or 1,
        "sees_supply": sees_supply,
        "news": news_for(person, projects),
        "can_submit_jobs": any(project.state == ProjectState.ACTIVE for project in projects),
        "is_admin": has_role(person, Role.ADMIN),
    }
    return render(request, "portal/home.html", context)


def _own_projects(person: Person) -> list[Project]:
    rows = visible_projects(person).filter(memberships__person=person, memberships__left_at__isnull=True)
    return list(rows.filter(state__in=SHOWN).distinct().order_by("name")[:MOST_PROJECTS])


def _project_rows(projects: list[Project]) -> list[ProjectRow]:
    ids = [project.pk for project in projects]
    if not ids:
        return []
    tiers, held, now = tier_at(ids, clock.now()), allotments(ids), projects_now(ids)
    milestones = _next_milestones(ids)
    today = local_day(clock.now())
    return [
        ProjectRow(
            project,
            tiers.get(project.pk),
            held[project.pk].total,
            bool(held[project.pk].rows),
            now.get(project.pk, NOTHING_HELD),
            milestones.get(project.pk),
            _is_late(milestones.get(project.pk), today),
        )
        for project in projects
    ]


def _next_milestones(project_ids: list[int]) -> dict[int, Milestone]:
    rows = Milestone.objects.filter(project__in=project_ids, met_on__isnull=True)
    found: dict[int, Milestone] = {}
    for row in rows.order_by("due_on", "id"):
        found.setdefault(row.project_id, row)
    return found


def _is_late(milestone: Milestone | None, today: date) -> bool:
    return milestone is not None and milestone.due_on < today
