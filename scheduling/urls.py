"""Pages of jobs. They answer with and without the last slash."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path

from scheduling.views import acts, job, listing, log, policy, submission

app_name = "scheduling"
JOB = r"^jobs/(?P<job_id>[0-9]{1,18})"
View = Callable[..., HttpResponseBase]
AsyncView = Callable[..., Awaitable[HttpResponseBase]]


def page(address: str, view: View, name: str) -> URLPattern:
    """A page; its job's id reaches the view as a number."""

    @wraps(view)
    def with_numbers(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return view(request, **_numbers(given))

    return re_path(address + r"/?$", with_numbers, name=name)


def stream(address: str, view: AsyncView, name: str) -> URLPattern:
    """The same for what is sent bit by bit."""

    @wraps(view)
    async def with_numbers(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return await view(request, **_numbers(given))

    return re_path(address + r"/?$", with_numbers, name=name)


def _numbers(given: dict[str, Any]) -> dict[str, Any]:
    return {key: int(raw) if key.endswith("_id") else raw for key, raw in given.items()}


urlpatterns = [
    page(r"^jobs", listing.listing, "list"),
    page(r"^scheduling/policy", policy.policy, "policy"),
    page(r"^jobs/new", submission.NewJob.as_view(), "new"),
    page(r"^jobs/new/check", submission.check, "new-check"),
    page(JOB, job.overview, "job"),
    page(JOB + r"/state", job.state, "job-state"),
    page(JOB + r"/check", job.launch_check, "job-check"),
    page(JOB + r"/request", job.asked, "job-request"),
    page(JOB + r"/history", job.history, "job-history"),
    stream(JOB + r"/log", log.download, "job-log"),
    stream(JOB + r"/log/stream", log.stream, "job-log-stream"),
    page(JOB + r"/(?P<name>cancel|pause|resume|requeue)", acts.act, "job-act"),
]
