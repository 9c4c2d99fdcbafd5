"""The jobs of one project: what runs, what waits and why, and what has ended."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from monitoring.selectors.latest import NOTHING_HELD, projects_now
from portal.pages.jobs import counted, job_rows, rows_of
from projects.views.frame import framed, opened
from scheduling.models import Job
from scheduling.selectors import listed
from scheduling.states import OVER

MOST_LIVE, PAGE_SIZE = 200, 50


@require_GET
def jobs(request: HttpRequest, project_id: int) -> HttpResponse:
    """The page at ``/projects/<id>/jobs``."""
    person = require_signed_in(request.user)
    detail = opened(request, project_id)
    mine = listed(person).filter(project=project_id)
    live = job_rows(mine.exclude(state__in=OVER), MOST_LIVE)
    page = Paginator(mine.filter(state__in=OVER).order_by("-ended_at", "-pk"), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        **framed(request, detail, "jobs"),
        "live": live,
        "job_counts": counted(live),
        "page": page,
        "utilisation": projects_now([project_id]).get(project_id, NOTHING_HELD),
        "ended": rows_of(list(page.object_list)),
        "can_submit_job": "run_jobs" in detail.can,
    }
    return render(request, "portal/project/jobs.html", context)


def open_jobs(project_id: int) -> int:
    """How many jobs are not over; the number on the tab."""
    return Job.objects.filter(project=project_id).exclude(state__in=OVER).count()
