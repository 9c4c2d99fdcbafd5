"""What will be free of a model in time, and whether the reserve is kept then: for plans and for what is expected."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.calendar import NEVER, Calendar
from scheduling.engine.gates import Reserve
from scheduling.engine.model import Job
from scheduling.engine.room import Ints
from scheduling.engine.views import Hold


@dataclass(frozen=True, slots=True)
class _Ends:
    """``moments`` in order; by each of them so much has ended on nodes that take something new, and of emergency
    jobs, wherever they are: who uses the reserve may end without giving it back."""

    moments: NDArray[np.float64]
    ended: Ints
    of_emergency: Ints


class Ahead:
    """By the max runtimes of what runs. ``told`` are jobs whose GPUs are promised to others when they end."""

    def __init__(self, calendar: Calendar, reserve: Reserve, told: Collection[int]) -> None:
        self._calendar = calendar
        self._reserve = reserve
        self._told = told
        self._known: dict[str, _Ends] = {}

    def changed(self, model: str) -> None:
        """What runs on the model is not what it was."""
        self._known.pop(model, None)

    def kept_from(self, job: Job, model: str, start: float) -> float:
        """The first moment from ``start`` on at which the job, if it has room, leaves the reserve free."""
        if self._reserve.is_never_asked(job, model):
            return start
        ends = self._ends(model)
        place = int(np.searchsorted(ends.moments, start, side="right"))
        ended = np.concatenate([[0], ends.ended])[place:]
        of_emergency = np.concatenate([[0], ends.of_emergency])[place:]
        kept = np.flatnonzero(self._reserve.kept_after(job, model, ended, of_emergency))
        if not len(kept):
            return NEVER
        return start if kept[0] == 0 else float(ends.moments[place + int(kept[0]) - 1])

    def ended_by(self, model: str, moment: float) -> int:
        """Milli-GPU on nodes that take something new, of what runs now and has ended by then."""
        ends = self._ends(model)
        place = int(np.searchsorted(ends.moments, moment, side="right"))
        return int(ends.ended[place - 1]) if place else 0

    def _ends(self, model: str) -> _Ends:
        if model not in self._known:
            calendar = self._calendar
            found = [(end, job) for end, job in calendar.ends(model) if end < NEVER and job.id not in self._told]
            milli = np.array([calendar.on_open_rows(job) for _end, job in found], dtype=np.int64)
            emergency = np.array([job.ask.total_milli * job.is_emergency for _end, job in found], dtype=np.int64)
            moments = np.array([end for end, _job in found], dtype=np.float64)
            self._known[model] = _Ends(moments, np.cumsum(milli), np.cumsum(emergency))
        return self._known[model]


class Spares:
    """Where a reserve is kept, devices alone do not say whether a plan moves: at its start there must be as much free
    as it takes and the reserve besides. ``spare`` is what others may hold of the model then."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._spare: dict[str, dict[int, int]] = {}
        self._plans: dict[int, Hold] = {}

    def add(self, plan: Hold, model: str, spare: int) -> None:
        """``spare`` counts what runs now; plans made before are taken off here, and this one from theirs."""
        others = self._spare.setdefault(model, {})
        for job, left in others.items():
            other = self._plans[job]
            if other.start <= plan.start < self._end(other):
                spare -= other.job.ask.total_milli
            elif plan.start <= other.start < self._end(plan):
                others[job] = left - plan.job.ask.total_milli
        others[plan.job.id], self._plans[plan.job.id] = spare, plan

    def remove(self, job: Job) -> None:
        """Its plan binds nobody any more."""
        self._plans.pop(job.id, None)
        for spares in self._spare.values():
            spares.pop(job.id, None)

    def begin(self, job: Job, model: str) -> None:
        """The job starts now."""
        self._change([(self._calendar.end_of(job), -job.ask.total_milli)], model)

    def stop(self, victims: Iterable[Job], model: str) -> None:
        """These end sooner than by their max runtimes."""
        self._change([(self._calendar.end_of(job), job.ask.total_milli) for job in victims], model)

    def delayed(self, job: Job, model: str, gone: Collection[Job] = ()) -> Hold | None:
        """The first plan that a start of the job now would move. ``gone`` stop for it: they give what they would still
        have held at the plan's start."""
        ask = job.ask.total_milli
        bound = [
            plan
            for owner, spare in self._spare.get(model, {}).items()
            if ask > max(0, spare)
            and owner != job.id
            and (plan := self._plans[owner]).start < self._calendar.end_of(job)
        ]
        moved = [plan for plan in bound if ask - self._given(gone, plan) > max(0, self._spare[model][plan.job.id])]
        return min(moved, key=lambda plan: (plan.start, plan.job.id), default=None)

    def _given(self, gone: Collection[Job], plan: Hold) -> int:
        return sum(job.ask.total_milli for job in gone if self._calendar.end_of(job) > plan.start)

    def _change(self, ends: Iterable[tuple[float, int]], model: str) -> None:
        spares = self._spare.get(model, {})
        for end, milli in ends:
            for owner in spares:
                if self._plans[owner].start < end:
                    spares[owner] += milli

    def _end(self, plan: Hold) -> float:
        return self._calendar.end_of(plan.job, plan.start)
