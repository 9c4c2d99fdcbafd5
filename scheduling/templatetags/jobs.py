"""Template tags of jobs. ``{% load jobs %}``."""

from datetime import datetime

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kernel import clock
from kernel.formats import duration
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.states import JobState
from scheduling.why import why

register = template.Library()


@register.filter
def gpus(milli: int) -> str:
    """Milli-GPU as people count: 8, or 0.5."""
    return f"{milli / MILLI:g}"


@register.simple_tag
def gpus_held(devices: dict[str, int]) -> str:
    """“2 GPUs” of one node's devices, by UUID in milli-GPU."""
    milli = sum(devices.values())
    return ngettext("%(count)s GPU", "%(count)s GPUs", 1 if milli == MILLI else 2) % {"count": f"{milli / MILLI:g}"}


@register.simple_tag
def span(start: datetime, end: datetime | None) -> str:
    """The length from ``start`` to ``end``, or to now."""
    return duration(max(0.0, ((end or clock.now()) - start).total_seconds()))


@register.simple_tag
def job_line(job: Job) -> str:
    """What a row says about a job: why it waits, since when it runs, how it ended."""
    if job.state == JobState.QUEUED:
        reason = why(job, clock.now())
        return reason.first or reason.text
    started = getattr(job, "started_at", None)
    if job.state == JobState.RUNNING and started is not None:
        return _("running for %(length)s") % {"length": duration((clock.now() - started).total_seconds())}
    return job.reason
