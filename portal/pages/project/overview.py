"""The first page of a project: what it holds, uses, costs and runs, and what waits for whom."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel import clock
from kernel.calendar import local_day
from portal.pages.jobs import JobRow, counted, job_rows
from portal.pages.project.by_model import by_model, month_of, no_month
from portal.pages.project.pace import at_this_pace
from portal.pages.project.standing import standing_of
from portal.pages.project.use import RANGES, range_asked
from portal.pages.waiting import of_project
from projects.selectors import ProjectDetail, history, project_detail, questions
from projects.states import ProjectState
from projects.views.frame import framed
from scheduling.selectors import listed
from scheduling.states import OVER

MOST_JOBS = 10
LATEST = 6
MOST_PEOPLE = 8
WITH_USE = frozenset({ProjectState.ACTIVE, ProjectState.SUSPENDED})

NEVER_USED = frozenset({ProjectState.DRAFT, ProjectState.SUBMITTED, ProjectState.REJECTED})
"""In these states a project has held no GPU and promised none, and cost nothing."""


@dataclass(frozen=True, slots=True)
class RangeLink:
    key: str
    label: str
    is_current: bool


@require_GET
def project(request: HttpRequest, project_id: int) -> HttpResponse:
    """The page at ``/projects/<id>/``."""
    person = require_signed_in(request.user)
    detail = project_detail(person, project_id)
    chosen = range_asked(request)
    was_used = detail.project.state not in NEVER_USED
    month = month_of(project_id) if was_used else no_month()
    jobs = job_rows(listed(person).filter(project=project_id), MOST_JOBS)
    story = history(detail.project)
    can_grant = _may_grant(detail)
    context = {
        **framed(request, detail, "overview", _open_jobs(jobs)),
        "can_submit_job": "run_jobs" in detail.can,
        "can_grant": can_grant,
        "can_ask": "request_quota" in detail.can,
        "has_primary": can_grant or "run_jobs" in detail.can,
        "has_use": detail.project.state in WITH_USE,
        "by_model": by_model(project_id, month, with_days=False) if was_used else None,
        "month": month,
        "pace": at_this_pace(month.whole, month.first),
        "ranges": [RangeLink(key, str(stretch.label), key == chosen) for key, stretch in RANGES.items()],
        "range": chosen,
        "jobs": jobs,
        "job_counts": counted(jobs),
        "standing": standing_of(detail, story),
        "thread": questions(detail.project) if any(item.what == "return" for item in story) else [],
        "waiting": of_project(person, detail),
        "met": sum(row.met_on is not None for row in detail.milestones),
        "today": local_day(clock.now()),
        "people": detail.members[:MOST_PEOPLE],
        "items": story[::-1][:LATEST],
    }
    return render(request, "portal/project/overview.html", context)


def _open_jobs(jobs: list[JobRow]) -> dict[str, int]:
    """The number on the tab, where the list here is all of them; those that are not over come first in it."""
    live = sum(row.job.state not in OVER for row in jobs)
    return {"jobs": live} if live < MOST_JOBS else {}


def _may_grant(detail: ProjectDetail) -> bool:
    """Those who set its tier grant its quota: admins, and never to a project of their own."""
    return detail.project.state == ProjectState.ACTIVE and "set_tier" in detail.can
