"""The list of jobs."""

from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from projects.policies import visible_to as visible_projects
from scheduling.api.filters import jobs_filtered
from scheduling.models import Job
from scheduling.selectors import listed
from scheduling.selectors.progress import with_start
from scheduling.states import OVER, JobState

PAGE_SIZE = 100
SHOWN = [state for state in JobState if state != JobState.DRAFT]
NOT_OVER = ",".join(state.value for state in SHOWN if state not in OVER)
SORTS = {"name": "name", "state": "state", "gpus": "milli_gpus", "submitted": "submitted_at", "ended": "ended_at"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a filter and the address that chooses it."""

    value: str
    label: str
    is_current: bool


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Own jobs by default, all visible ones with ``?owner=all``; ``state``, ``project``, ``q`` narrow it."""
    person = require_signed_in(request.user)
    owner = request.GET.get("owner") or "me"
    asked = {key: request.GET.get(key, "") for key in ("state", "project", "q") if request.GET.get(key)}
    if owner != "all":
        asked["owner"] = owner
    rows = jobs_filtered(listed(person), asked, person)
    page: Page[Job] = Paginator(with_start(_sorted(rows, request.GET.get("sort", ""))), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "page": page,
        "owners": [Choice("me", _("Mine"), owner == "me"), Choice("all", _("All I may see"), owner == "all")],
        "states": _states(request.GET.get("state", "")),
        "project": visible_projects(person).filter(pk=asked["project"]).first() if asked.get("project") else None,
        "matching": asked.get("q", ""),
        "is_filtered": len(asked) > (owner == "me"),
        "owner": owner,
    }
    return render(request, "scheduling/jobs.html", context)


def _sorted(rows: QuerySet[Job], asked: str) -> QuerySet[Job]:
    """By allow-listed keys; what is not one of them sorts nothing."""
    keys = []
    for key in asked.split(","):
        name = SORTS.get(key.removeprefix("-"))
        if name:
            keys.append(f"-{name}" if key.startswith("-") else name)
    return rows.order_by(*keys, "-id")


def _states(current: str) -> list[Choice]:
    every = [Choice("", _("Any state"), not current), Choice(NOT_OVER, _("Not over"), current == NOT_OVER)]
    return every + [Choice(state.value, str(state.label).capitalize(), current == state.value) for state in SHOWN]
