"""What quota, reserve and windows allow: each gate a job does not pass says by how much."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.engine.calendar import Calendar
from scheduling.engine.model import Amounts, Job, Project, Window
from scheduling.engine.parties import Ledger, Parties
from scheduling.engine.room import Bools, Ints


@dataclass(frozen=True, slots=True)
class NodeLack:
    """What lacks on a node for one member. ``is_taken``: besides, whatever is on it must end, because this job or one
    of those there wants the node alone."""

    node: str
    devices: int
    cpus: int
    memory_bytes: int
    is_taken: bool

    @property
    def is_nothing(self) -> bool:
        return not (self.devices or self.cpus or self.memory_bytes or self.is_taken)


@dataclass(slots=True)
class Gate:
    """Closed to a job. ``missing`` is what would open it: milli-GPU, cores or bytes. ``level`` and ``name`` say whose
    guarantee or limit of ``bound`` it is, of which ``used`` are used; ``until``: when time opens it; ``nodes``: those
    that lack something; ``windows``: the ids of those that it would disturb."""

    kind: str
    missing: int
    bound: int = 0
    used: int = 0
    level: str = ""
    name: str = ""
    party: int = -1
    until: float | None = None
    nodes: tuple[NodeLack, ...] = ()
    windows: tuple[str, ...] = ()
    said: tuple[str, dict[str, Any]] | None = None
    """In words and for screens, once somebody has asked: see ``reasons``."""


class Gates:
    """Judges one more job on one model, given what is used by now."""

    def __init__(self, parties: Parties, ledger: Ledger, projects: dict[int, Project]) -> None:
        self._parties = parties
        self._ledger = ledger
        self._projects = projects
        self._known: dict[tuple[str, int, str, int], list[Gate]] = {}
        self._version = ledger.version

    def of_quota(self, job: Job, model: str) -> list[Gate]:
        """Guarantee, for who is not preemptible; limits; cores and memory. Every closed level of each."""
        guarantee_left, limit_left = self._ledger.left(job.project, model)
        milli = job.ask.total_milli
        found: list[Gate] = []
        if not job.is_preemptible and milli > guarantee_left:
            found += self._once("guarantee", job, model)
        if milli > limit_left:
            found += self._once("limit", job, model)
        return found + self.of_resources(job)

    def of_resources(self, job: Job) -> list[Gate]:
        """Cores and memory of the project."""
        found: list[Gate] = []
        project, ask = self._projects[job.project], job.ask
        if project.cpu_limit is not None:
            found += _resource("cpus", ask.cpus * ask.nodes, project.cpu_limit, self._ledger.cpus[project.id])
        if project.memory_limit_bytes is not None:
            used = self._ledger.memory_bytes[project.id]
            found += _resource("memory_bytes", ask.memory_bytes * ask.nodes, project.memory_limit_bytes, used)
        return found

    def is_open(self, job: Job, model: str) -> bool:
        """Whether ``of_quota`` finds none, without saying which."""
        guarantee_left, limit_left = self._ledger.left(job.project, model)
        milli = job.ask.total_milli
        if milli > limit_left or (not job.is_preemptible and milli > guarantee_left):
            return False
        project = self._projects[job.project]
        is_counted = project.cpu_limit is not None or project.memory_limit_bytes is not None
        return not (is_counted and self.of_quota(job, model))

    def _once(self, kind: str, job: Job, model: str) -> list[Gate]:
        """The same for all jobs of a project that ask for as much, until use changes."""
        if self._version != self._ledger.version:
            self._known.clear()
            self._version = self._ledger.version
        key = kind, job.project, model, job.ask.total_milli
        if key not in self._known:
            self._known[key] = list((self._guarantee if kind == "guarantee" else self._limit)(job, model))
        return self._known[key]

    def _guarantee(self, job: Job, model: str) -> Iterator[Gate]:
        for party, missing in self._ledger.over_guarantee(job, model):
            bound, used = party.guaranteed(model), self._ledger.non_preemptible(party, model)
            yield Gate("guarantee", missing, bound, used, _level(party.is_group), party.name, party.index)

    def _limit(self, job: Job, model: str) -> Iterator[Gate]:
        for party, missing in self._ledger.over_limit(job, model):
            used = self._ledger.use(party, model)
            bound = used + job.ask.total_milli - missing
            yield Gate("limit", missing, bound, used, _level(party.is_group), party.name, party.index)


def _level(is_group: bool) -> str:
    return "group" if is_group else "project"


def _resource(name: str, asked: int, limit: int, used: int) -> list[Gate]:
    is_closed = asked and used + asked > limit
    return [Gate("resource", used + asked - limit, limit, used, "project", name)] if is_closed else []


class Reserve:
    """What must stay free of a model for emergencies, less what emergency jobs use of it by now."""

    def __init__(self, reserve: Amounts, free: Callable[[str], int]) -> None:
        self._reserve = reserve
        self._free = free
        self._used: dict[str, int] = defaultdict(int)

    def add(self, job: Job, model: str, sign: int = 1) -> None:
        """Count a job that runs or is to run; ``sign`` −1: it no longer does."""
        if job.is_emergency:
            self._used[model] += sign * job.ask.total_milli

    def gate(self, job: Job, model: str) -> Gate | None:
        """Closed if fewer than what is left of the reserve would be free beside the job."""
        reserve, free = self.left(model), self._free(model)
        missing = job.ask.total_milli + reserve - free
        if self.is_never_asked(job, model) or not reserve or missing <= 0:
            return None
        return Gate("reserve", missing, reserve, free)

    def is_kept(self, job: Job, model: str, freed: int) -> bool:
        """Whether the job leaves what is free of the reserve, if ``freed`` milli-GPU become free for it. Where less
        is free than should be, it may use only these."""
        if self.is_never_asked(job, model) or not (reserve := self.left(model)):
            return True
        free = self._free(model)
        return free + freed - job.ask.total_milli >= min(free, reserve)

    def is_never_asked(self, job: Job, model: str) -> bool:
        """Whether there is no reserve on the model, or none that would bind this job."""
        return job.is_emergency or not job.ask.total_milli or not self._reserve.get(model, 0)

    def kept_after(self, job: Job, model: str, ended: Ints, of_emergency: Ints) -> Bools:
        """Whether it is kept, after each of these amounts have ended."""
        left = np.maximum(0, self._reserve.get(model, 0) - (self._used[model] - of_emergency))
        kept: Bools = (left == 0) | (self._free(model) + ended - job.ask.total_milli >= left)
        return kept

    def left(self, model: str) -> int:
        """Milli-GPU that are still to be kept free."""
        return max(0, self._reserve.get(model, 0) - self._used[model])


class Windows:
    """GPUs held for one project at stated times. Others start on them only if they end before."""

    def __init__(self, windows: tuple[Window, ...], calendar: Calendar, now: float) -> None:
        self._calendar = calendar
        self._now = now
        self._of_model: dict[str, list[Window]] = defaultdict(list)
        for window in sorted(windows, key=lambda window: (window.start, window.id)):
            if window.end > now:
                self._of_model[window.gpu_model].append(window)

    def gate(self, job: Job, model: str, gone: Container[int] = ()) -> Gate | None:
        """The windows of others that would lack GPUs because of the job before its end; at worst ``missing``. Jobs
        that are ``gone`` stop for it: what they had is free, and a holder's window is owed what its own had."""
        lacking = list(self._lacking(job, model, self._now, gone))
        if not lacking:
            return None
        ids = sorted({window.id for _missing, windows in lacking for window in windows})
        bound = max(sum(window.milli for window in windows) for _missing, windows in lacking)
        missing = max(missing for missing, _windows in lacking)
        return Gate("window", missing, bound, until=self.opens(job, model, self._now), windows=tuple(ids))

    def opens(self, job: Job, model: str, start: float) -> float:
        """The first moment from ``start`` on at which the job may start beside the windows of others."""
        ends = sorted({window.end for window in self._of_model.get(model, ()) if window.end > start})
        return next(at for at in (start, *ends) if not any(self._lacking(job, model, at)))

    def _lacking(
        self, job: Job, model: str, start: float, gone: Container[int] = ()
    ) -> Iterator[tuple[int, list[Window]]]:
        """Moments of a run from ``start`` at which windows of others would lack GPUs: how many, and which windows. It
        is worst when one begins: whose job ends later leaves as many GPUs free as are owed to it then."""
        windows = self._of_model.get(model)
        if not windows or not job.ask.total_milli:
            return
        end = self._calendar.end_of(job, start)
        for moment in sorted({max(start, window.start) for window in windows if window.start < end}):
            held = [window for window in windows if self._is_held(window, job, moment)]
            missing = self._missing(job, model, moment, held, gone)
            if held and missing > 0:
                yield missing, held

    @staticmethod
    def _is_held(window: Window, job: Job, moment: float) -> bool:
        return window.start <= moment < window.end and window.project != job.project

    def _missing(self, job: Job, model: str, moment: float, windows: Iterable[Window], gone: Container[int]) -> int:
        held: dict[int, int] = defaultdict(int)
        for window in windows:
            held[window.project] += window.milli
        used = self._calendar.use_at(model, moment, gone)
        owed = sum(max(0, milli - used.get(project, 0)) for project, milli in held.items())
        return owed + job.ask.total_milli - self._calendar.left_at(model, moment, gone) if owed else 0
