"""Cancel, pause, resume, requeue: what stops something asks once and names it."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from accounts.policies import require_signed_in
from kernel.dialogs import ask
from scheduling import policies, services
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.selectors import AttemptView, JobDetail
from scheduling.states import AttemptState
from scheduling.views.job import detail_of


@dataclass(frozen=True, slots=True)
class Act:
    """A service, the question asked before, and what is said after."""

    service: Callable[..., Job]
    question: str | Promise
    label: str | Promise
    done: str | Promise
    is_danger: bool = False


ACTS = {
    "cancel": Act(
        services.job_cancel,
        gettext_lazy("Stop the job “%(name)s”?"),
        gettext_lazy("Stop the job"),
        gettext_lazy("“%(name)s” was told to stop."),
        is_danger=True,
    ),
    "pause": Act(
        services.job_pause,
        gettext_lazy("Pause the job “%(name)s”?"),
        gettext_lazy("Pause the job"),
        gettext_lazy("“%(name)s” was told to pause."),
    ),
    "resume": Act(
        services.job_resume,
        gettext_lazy("Queue the job “%(name)s” again?"),
        gettext_lazy("Resume the job"),
        gettext_lazy("“%(name)s” waits in the queue again."),
    ),
    "requeue": Act(
        services.job_requeue,
        gettext_lazy("Run the job “%(name)s” again?"),
        gettext_lazy("Requeue the job"),
        gettext_lazy("“%(name)s” waits in the queue again."),
    ),
}


@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, job_id: int, name: str) -> HttpResponse:
    """GET asks, POST acts. Who may not act is refused before being asked."""
    person, detail = detail_of(request, job_id)
    job = detail.job
    policies.require_act(person, job)
    chosen = ACTS[name]
    if request.method == "POST":
        chosen.service(actor=require_signed_in(request.user), job_id=job.pk)
        messages.success(request, str(chosen.done) % {"name": job.name})
        return redirect("scheduling:job", job.pk)
    context = {
        "title": str(chosen.question) % {"name": job.name},
        "text": _consequence(detail, name),
        "affected": _affected(detail),
        "action": request.path,
        "label": chosen.label,
        "danger": chosen.is_danger,
        "cancel_url": reverse("scheduling:job", args=[job.pk]),
    }
    return ask(request, context)


def _consequence(detail: JobDetail, name: str) -> str:
    job = detail.job
    if name in ("resume", "requeue"):
        return _("It joins the end of the queue and starts when there is room for it.")
    live = _live(detail)
    if live is not None and live.gives_way:
        return _("It gives way already. Stopped by a person it does not go back to the queue.")
    if live is None:
        return _("It leaves the queue. Nothing of it runs, so no work is lost.")
    if job.checkpoint_dir:
        return _("Its processes get %(signal)s and its grace time to save a checkpoint; then they are killed.") % {
            "signal": job.signal
        }
    return _(
        "Its processes get %(signal)s and its grace time; then they are killed. It declares no checkpoint folder, "
        "so its work is lost."
    ) % {"signal": job.signal}


def _affected(detail: JobDetail) -> list[str]:
    """What is hurt: whose job, and the GPUs that it holds, by node."""
    job, attempt = detail.job, _live(detail)
    lines = [
        _("Job %(id)s of %(owner)s in %(project)s") % {"id": job.pk, "owner": job.owner, "project": job.project.name}
    ]
    for node, devices in attempt.placement.items() if attempt else ():
        milli = sum(devices.values())
        text = ngettext("%(count)s GPU on %(node)s", "%(count)s GPUs on %(node)s", 1 if milli == MILLI else 2)
        lines.append(text % {"count": f"{milli / MILLI:g}", "node": node})
    return lines


def _live(detail: JobDetail) -> AttemptView | None:
    return next((attempt for attempt in detail.attempts if attempt.state != AttemptState.ENDED), None)
