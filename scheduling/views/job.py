"""One job: overview, launch check, request, history."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import clock
from projects.policies import can_now
from scheduling import story
from scheduling.commands import text_of
from scheduling.models import Job
from scheduling.policies import can_act
from scheduling.selectors import JobDetail, job_detail, job_events
from scheduling.selectors.progress import log_end, queue_place
from scheduling.states import OVER, JobState
from scheduling.templatetags.jobs import gpus_held
from scheduling.why import quota_lacked

LOG_SHOWN = 256 * 1024
"""How much of the end of a long log a page starts with; the download has all."""
ACTS = ("cancel", "pause", "resume", "requeue")


@dataclass(frozen=True, slots=True)
class Tab:
    url: str
    label: str
    count: int | None
    is_current: bool


def detail_of(request: HttpRequest, job_id: int) -> tuple[Person, JobDetail]:
    """The person and the job with its attempts; a stranger learns nothing (``NotFound``)."""
    person = require_signed_in(request.user)
    return person, job_detail(person, job_id)


@require_GET
def overview(request: HttpRequest, job_id: int) -> HttpResponse:
    """State, log, what the GPUs do, attempts."""
    person, detail = detail_of(request, job_id)
    context = _head(person, detail, "overview")
    if detail.attempts:
        size = log_end(job_id).size
        context |= {"log_offset": max(0, size - LOG_SHOWN), "log_size": size}
    else:
        context |= {"place": queue_place(detail.job)}
    return render(request, "scheduling/job.html", context)


@require_GET
def state(request: HttpRequest, job_id: int) -> HttpResponse:
    """What changes while it runs; asked for every two seconds until the job is over.

    The page says by ``seen`` what it shows. Buttons are sent again only when they differ, so that none vanishes
    under a finger that is about to press it. Attempts are always sent: they say how long they have been running.
    """
    person, detail = detail_of(request, job_id)
    context = _head(person, detail, "overview")
    seen = request.GET.get("seen", "")
    if len(detail.attempts) == 1 and "-" not in seen:
        # The first attempt brings log and charts: parts that the page does not have yet.
        return HttpResponse(headers={"HX-Refresh": "true"})
    context |= {"is_update": True, "has_changed": seen != context["stamp"]}
    return render(request, "scheduling/_job_live.html", context)


@require_GET
def launch_check(request: HttpRequest, job_id: int) -> HttpResponse:
    person, detail = detail_of(request, job_id)
    return render(request, "scheduling/job_check.html", _head(person, detail, "check"))


@require_GET
def asked(request: HttpRequest, job_id: int) -> HttpResponse:
    """All that was asked for when it was submitted."""
    person, detail = detail_of(request, job_id)
    return render(request, "scheduling/job_request.html", {**_head(person, detail, "request"), **_request(detail.job)})


@require_GET
def history(request: HttpRequest, job_id: int) -> HttpResponse:
    """Every step of its state and of its attempts, newest first."""
    person, detail = detail_of(request, job_id)
    context = {**_head(person, detail, "history"), "history": job_events(detail.job)[::-1]}
    return render(request, "scheduling/job_history.html", context)


def _head(person: Person, detail: JobDetail, tab: str) -> dict[str, Any]:
    """What every page of the job shows at its top."""
    job, attempts, now = detail.job, detail.attempts, clock.now()
    may_act = can_act(person, job)
    return {
        "job": job,
        "attempts": attempts[::-1],
        "gpus_word": gpus_held({"": job.milli_gpus}),
        "models": _models(detail),
        "is_simulated": any(attempt.is_simulated for attempt in attempts),
        "is_final": job.state in OVER,
        "sentence": story.sentence(job, attempts, now),
        "steps": story.steps(job, attempts, now),
        "asks_quota": _asks_quota(person, job),
        "can": {name: may_act and name in detail.possible for name in ACTS},
        "warnings": _warnings(job),
        "tabs": _tabs(job, tab),
        "stamp": "-".join([job.state, *(f"{attempt.number}{attempt.state}" for attempt in attempts)]),
    }


def _asks_quota(person: Person, job: Job) -> str:
    """Where this person may ask for the quota that the job waits for; empty where that is not what it waits for."""
    model = quota_lacked(job) if job.state == JobState.QUEUED else None
    if model is None or "request_quota" not in can_now(person, job.project):
        return ""
    return reverse("quota-request-new", args=[job.project_id], query={"model": model})


def _models(detail: JobDetail) -> list[str]:
    """The model of the newest attempt; before there is one, those that are allowed."""
    if detail.attempts:
        return [detail.attempts[-1].gpu_model]
    return [model.name for model in detail.job.gpu_models.all()]


def _tabs(job: Job, current: str) -> list[Tab]:
    rows: list[tuple[str, str, str, int | None]] = [
        ("overview", "scheduling:job", _("Overview"), None),
        ("check", "scheduling:job-check", _("Launch check"), _warnings(job) or None),
        ("request", "scheduling:job-request", _("Request"), None),
        ("history", "scheduling:job-history", _("History"), None),
    ]
    return [Tab(reverse(name, args=[job.pk]), label, count, key == current) for key, name, label, count in rows]


def _warnings(job: Job) -> int:
    return sum(item.get("level") != "pass" for item in job.launch_check)


def _request(job: Job) -> dict[str, Any]:
    return {
        "command": text_of(job.command),
        "argv": job.command,
        "env": sorted(job.env.items()),
        "datasets": job.datasets,
    }
