"""One project: the registry's facts with what it holds, uses and runs."""

from collections import defaultdict
from datetime import date, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import formats
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel import clock
from kernel.calendar import local_day
from kernel.formats import gpu_hours
from kernel.looks import model_class
from monitoring.selectors.latest import NOTHING_HELD, projects_now
from portal.pages.allotment import allotments
from portal.pages.columns import Day, Part, day_columns
from portal.pages.jobs import counted, job_rows
from portal.pages.waiting import of_project
from projects.selectors import ProjectDetail, history, project_detail
from projects.states import ProjectState
from projects.views.frame import framed
from scheduling.selectors import DayUsage, gpu_hours_by_day, listed

DAYS = 14
MOST_JOBS = 10
LATEST = 6


@require_GET
def project(request: HttpRequest, project_id: int) -> HttpResponse:
    """The page at ``/projects/<id>/``."""
    person = require_signed_in(request.user)
    detail = project_detail(person, project_id)
    held = allotments([project_id])[project_id]
    usage = _usage(project_id)
    jobs = job_rows(listed(person).filter(project=project_id), MOST_JOBS)
    can_grant = _may_grant(detail)
    context = {
        **framed(request, detail, "overview"),
        "can_submit_job": "run_jobs" in detail.can,
        "can_grant": can_grant,
        "has_primary": can_grant or "run_jobs" in detail.can,
        "allotments": held,
        "utilisation": projects_now([project_id]).get(project_id, NOTHING_HELD),
        "columns": _columns(usage),
        "hours": gpu_hours(sum(day.gpu_hours for day in usage)),
        "hours_simulated": any(day.is_simulated for day in usage),
        "models_used": sorted({day.gpu_model for day in usage}),
        "jobs": jobs,
        "job_counts": counted(jobs),
        "waiting": of_project(detail),
        "items": history(detail.project)[::-1][:LATEST],
    }
    return render(request, "portal/project.html", context)


def _may_grant(detail: ProjectDetail) -> bool:
    """Those who set its tier grant its quota: admins, and never to a project of their own."""
    return detail.project.state == ProjectState.ACTIVE and "set_tier" in detail.can


def _usage(project_id: int) -> list[DayUsage]:
    today = local_day(clock.now())
    return gpu_hours_by_day(today - timedelta(days=DAYS - 1), today, [project_id])


def _columns(usage: list[DayUsage]) -> SafeString:
    """The last days as columns; a day without use is an empty place: the ledger knows that it was zero."""
    today = local_day(clock.now())
    hours: dict[date, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for day in usage:
        hours[day.day][day.gpu_model] += day.gpu_hours
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    total = gpu_hours(sum(day.gpu_hours for day in usage))
    words = _("GPU-hours per day over %(days)s days, %(total)s together") % {"days": DAYS, "total": total}
    return day_columns([_day(day, hours[day], today) for day in days], label=words)


def _day(day: date, hours: dict[str, float], today: date) -> Day:
    """The month is said where it begins, and under today."""
    written = formats.date_format(day, "j M")
    parts = tuple(
        Part(amount, model_class(model), f"{written}, {model}: {gpu_hours(amount)}")
        for model, amount in sorted(hours.items())
        if amount > 0
    )
    is_first = day.day == 1 or day == today - timedelta(days=DAYS - 1) or day == today
    return Day(written if is_first else str(day.day), parts, gpu_hours(sum(hours.values())), day == today)
