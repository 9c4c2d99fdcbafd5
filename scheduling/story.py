"""A job's state in words and steps, for screens. Pure: rows in, texts out.

What is said is what is known: a node that is silent makes a job *unknown*, not failed and not idle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from kernel.formats import duration, gpu_hours
from scheduling.models import Job
from scheduling.selectors import AttemptView, InterruptionView
from scheduling.states import OVER, AttemptState, Cause, JobState
from scheduling.why import why

StepState = Literal["done", "current", "ahead"]
_AFTER_RUNNING = {
    JobState.PAUSING: gettext_lazy("Pausing"),
    JobState.STOPPING: gettext_lazy("Stopping"),
}
_WORKING = (JobState.RUNNING, JobState.PAUSING, JobState.STOPPING)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way; ``detail`` is how long it took or takes."""

    label: str
    detail: str
    state: StepState
    tone: str = ""
    """``waiting`` where the current step is one of waiting."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Where the job stands and why; ``detail`` is the small print under it."""

    text: str
    detail: str = ""


def steps(job: Job, attempts: Sequence[AttemptView], now: datetime) -> list[Step]:
    """Waited, started, ran, and how it ended: always four, so that the line does not jump."""
    last = _current(job, attempts)
    return [_waited(job, last, now), _started(job, last, now), _ran(job, last, now), _ended(job)]


def sentence(job: Job, attempts: Sequence[AttemptView], now: datetime) -> Sentence:
    """One sentence that is true, and what follows from it."""
    last = _current(job, attempts)
    if last is not None and last.state == AttemptState.UNKNOWN:
        return _unknown(last)
    if job.state == JobState.QUEUED:
        return _queued(job, attempts, now)
    if job.state == JobState.STARTING and last is not None:
        return Sentence(_("It is being started on %(nodes)s.") % {"nodes": _nodes(last)}, _retried(attempts))
    if job.state in _WORKING and last is not None:
        return _working(job, last, attempts, now)
    return _over(job, attempts)


def _current(job: Job, attempts: Sequence[AttemptView]) -> AttemptView | None:
    """The newest attempt, unless the job waits for another one."""
    if not attempts or job.state == JobState.QUEUED:
        return None
    return attempts[-1]


def _waited(job: Job, last: AttemptView | None, now: datetime) -> Step:
    if last is None and job.state not in OVER:
        word = _("Paused") if job.state == JobState.PAUSED else _("Waiting")
        return Step(word, _length(job.queued_at, now), "current", "waiting")
    until = last.assigned_at if last else job.ended_at
    return Step(_("Waited"), _length(job.queued_at, until), "done")


def _started(job: Job, last: AttemptView | None, now: datetime) -> Step:
    if last is None:
        return Step(_("Starting"), "", "ahead")
    if job.state == JobState.STARTING:
        return Step(_("Starting"), _length(last.assigned_at, now), "current", "waiting")
    if last.started_at is None:
        return Step(_("Starting"), _("never began"), "done" if last.ended_at else "current")
    return Step(_("Started"), _length(last.assigned_at, last.started_at), "done")


def _ran(job: Job, last: AttemptView | None, now: datetime) -> Step:
    if last is None or last.started_at is None:
        return Step(_("Running"), "", "ahead")
    if last.ended_at is None:
        word = _AFTER_RUNNING.get(JobState(job.state)) or _("Running")
        return Step(str(word), _length(last.started_at, now), "current")
    return Step(_("Ran"), _length(last.started_at, last.ended_at), "done")


def _ended(job: Job) -> Step:
    if job.state in OVER or job.state == JobState.PAUSED:
        return Step(str(JobState(job.state).label).capitalize(), "", "done")
    return Step(_("Finished"), "", "ahead")


def _queued(job: Job, attempts: Sequence[AttemptView], now: datetime) -> Sentence:
    reason = why(job, now)
    tried = ""
    if job.not_before is not None and job.not_before > now:
        wait = duration((job.not_before - now).total_seconds())
        tried = _("It is tried again in %(wait)s.") % {"wait": wait}
    cut = _interrupted(attempts[-1].interruption) if attempts else ""
    return Sentence(reason.text, " ".join(filter(None, [reason.opens, tried or reason.expected, cut])))


def _interrupted(cut: InterruptionView | None) -> str:
    """What giving way cost, and where the job is now. Empty where nothing was interrupted."""
    if cut is None or not cut.is_booked:
        return ""
    if cut.by is not None:
        began = _("It gave way to %(job)s.") % {"job": _named(cut)}
    else:
        began = _("Its last attempt was interrupted through no fault of its own.")
    if cut.lost_gpu_seconds:
        lost = gpu_hours(cut.lost_gpu_hours)
        text = _("%(hours)s GPU-hours of work were lost; they do not count as use of the project.") % {"hours": lost}
    else:
        text = _("No work was lost.")
    return " ".join([began, text, _("It is back at its old place in the queue.")])


def _named(cut: InterruptionView) -> str:
    """The job, with its name where the reader may know it."""
    if cut.by_name:
        return _("job %(id)s (%(name)s)") % {"id": cut.by, "name": cut.by_name}
    return _("job %(id)s") % {"id": cut.by}


def _unknown(last: AttemptView) -> Sentence:
    text = _("Nothing has been heard from %(nodes)s. Whether the job still runs there is not known.")
    detail = _("It keeps its GPUs until the node answers or is declared lost; nothing is started twice.")
    return Sentence(text % {"nodes": _named_nodes(last.silent or list(last.placement))}, detail)


def _working(job: Job, last: AttemptView, attempts: Sequence[AttemptView], now: datetime) -> Sentence:
    words = {"nodes": _nodes(last)}
    if job.state == JobState.RUNNING:
        return Sentence(
            _("It runs on %(nodes)s.") % words, " ".join(filter(None, [_retried(attempts), _end(last, now)]))
        )
    if last.gives_way:
        return _giving_way(last)
    if job.state == JobState.PAUSING:
        text = _("It is being paused on %(nodes)s: it was told to save its work and stop.")
    else:
        text = _("It is being stopped on %(nodes)s: it was told to save its work and end.")
    return Sentence(text % words, _("After its grace time whatever is left of it is killed."))


def _giving_way(last: AttemptView) -> Sentence:
    cut, words = last.interruption, {"nodes": _nodes(last)}
    detail = _(
        "Then it goes back to its old place in the queue. After its grace time whatever is left of it is killed."
    )
    if cut is None or cut.by is None:
        text = _("Some of its nodes fell silent; the rest of it on %(nodes)s was told to save its work and stop.")
        return Sentence(text % words, detail)
    text = _("It gives way to %(job)s: on %(nodes)s it was told to save its work and stop.")
    return Sentence(text % {**words, "job": _named(cut)}, detail)


def _end(last: AttemptView, now: datetime) -> str:
    """When the max runtime ends; without one nobody knows."""
    if last.max_runtime_s is None:
        return _("It has no max runtime, so nobody can plan with its end.")
    if last.started_at is None:
        return ""
    left = last.max_runtime_s - (now - last.started_at).total_seconds()
    if left <= 0:
        return _("Its max runtime is over.")
    return _("Its max runtime ends in %(left)s.") % {"left": duration(left)}


def _over(job: Job, attempts: Sequence[AttemptView]) -> Sentence:
    last = attempts[-1] if attempts else None
    if job.state == JobState.SUCCEEDED:
        text = job.reason or _("It ended by itself with exit code 0.")
    else:
        text = job.reason or (str(Cause(last.cause).label).capitalize() if last and last.cause else "")
    return Sentence(text, last.message if last and last.message != text else "")


def _retried(attempts: Sequence[AttemptView]) -> str:
    """Why this is not the first attempt."""
    if len(attempts) < 2:
        return ""
    before = attempts[-2]
    cause = Cause(before.cause).label if before.cause else AttemptState(before.state).label
    text = _("This is attempt %(number)s; the one before ended so: %(cause)s.")
    return text % {"number": attempts[-1].number, "cause": cause}


def _nodes(attempt: AttemptView) -> str:
    return _named_nodes(list(attempt.placement))


def _named_nodes(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return _(" and ").join(names) or _("no node")
    return ngettext("%(count)s node", "%(count)s nodes", len(names)) % {"count": len(names)}


def _length(start: datetime | None, end: datetime | None) -> str:
    return "" if start is None or end is None else duration(max(0.0, (end - start).total_seconds()))
