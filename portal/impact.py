"""What suspending or closing a project does to its jobs: told to the registry, which asks before it is done."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.impact import describe_stopping
from projects.models import Project
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.states import LIVE, JobState

MOST_NAMES = 10


def register() -> None:
    """Called once, when the site is ready."""
    describe_stopping(jobs_hurt)


def jobs_hurt(project: Project) -> list[str]:
    """How many jobs on how many GPUs are stopped, whose they are, and how many that wait are cancelled."""
    running = list(Job.objects.filter(project=project, state__in=LIVE).select_related("owner").order_by("pk"))
    waiting = Job.objects.filter(project=project, state=JobState.QUEUED).count()
    lines = []
    if running:
        gpus = sum(job.milli_gpus for job in running) / MILLI
        text = ngettext(
            "%(count)s job on %(gpus)s GPUs is stopped, with its grace period:",
            "%(count)s jobs on %(gpus)s GPUs are stopped, each with its grace period:",
            len(running),
        )
        lines.append(text % {"count": len(running), "gpus": f"{gpus:g}"})
        lines += [f"{job.name}, {job.owner}" for job in running[:MOST_NAMES]]
    if len(running) > MOST_NAMES:
        lines.append(_("and %(count)s more") % {"count": len(running) - MOST_NAMES})
    if waiting:
        text = ngettext("%(count)s job that waits is cancelled.", "%(count)s jobs that wait are cancelled.", waiting)
        lines.append(text % {"count": waiting})
    return lines or [_("None of its jobs runs or waits.")]
