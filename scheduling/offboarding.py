"""The jobs of somebody who leaves go on: a lost job costs weeks. They are named, so that somebody looks after them."""

from django.utils.translation import gettext_lazy as _

from accounts.models import Person
from accounts.offboarding.steps import Item, Leaving, Line, OffboardingStep, register
from scheduling.models import Job
from scheduling.states import LIVE, JobState

RUNNING, WAITING = "running", "waiting"


def _lines(person: Person) -> list[Line]:
    jobs = Job.objects.filter(owner=person, state__in=[*LIVE, JobState.QUEUED, JobState.PAUSED])
    rows = list(jobs.select_related("project").only("name", "state", "project__name").order_by("pk"))
    running = [Item.of(job, job.project) for job in rows if job.state in LIVE]
    waiting = [Item.of(job, job.project) for job in rows if job.state not in LIVE]
    return [*Line.of(RUNNING, running), *Line.of(WAITING, waiting)]


def _carry_out(leaving: Leaving) -> list[Line]:
    return _lines(leaving.person)


def register_step() -> None:
    """Called once, when the room is ready."""
    register(
        OffboardingStep(
            room="scheduling",
            title=_("Jobs"),
            words={
                RUNNING: _("Jobs on GPUs: go on; the project's leads and admins can stop them"),
                WAITING: _("Jobs that wait or are paused: stay; the project's leads and admins can cancel them"),
            },
            preview=_lines,
            carry_out=_carry_out,
        )
    )
