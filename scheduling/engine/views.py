"""The room as those may use it who must not move the planned starts of others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scheduling.engine.model import MILLI, Ask, Job
from scheduling.engine.room import Room, Spot

_BLOCKED = -1
"""Takes what a plan keeps from others; no project has this number."""


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """A planned start: at ``start`` the job is to have these whole devices, ``spots`` one a member. ``keeps``: of
    today's free CPU and memory of each host, what will be needed because too little becomes free until then."""

    job: Job
    start: float
    spots: tuple[Spot, ...]
    keeps: tuple[tuple[int, int], ...] = ()

    def places(self) -> set[tuple[int, int]]:
        """Rows and columns."""
        return {(spot.row, column) for spot in self.spots for column in spot.columns}


@dataclass(slots=True)
class _View:
    room: Room
    plans: Sequence[Hold]
    seen: int


class Views:
    """One view for each moment before which plans begin. A start or stop changes a few nodes, and a new plan blocks a
    few: only these are brought up to date, when the view is next asked for."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._views: dict[float, _View] = {}

    def around(self, before: float, plans: Sequence[Hold]) -> Room:
        """The room around these plans, which begin before this moment. Valid until the next call; not to be
        changed."""
        view = self._views.get(before)
        if view is None:
            self._room.states()
            view = self._views[before] = _View(self._room.copy(), (), len(self._room.moved))
        hosts = set(self._room.moved[view.seen :])
        if plans is not view.plans:
            hosts |= self._hosts_of(set(plans) ^ set(view.plans))
        view.plans, view.seen = plans, len(self._room.moved)
        self._renew(view.room, plans, hosts)
        return view.room

    def without(self, before: float, plans: Sequence[Hold], own: Hold) -> Room:
        """The same, but for one plan."""
        room = self.around(before, plans).copy()
        self._renew(room, [plan for plan in plans if plan is not own], self._hosts_of([own]))
        return room

    def _hosts_of(self, plans: Iterable[Hold]) -> set[int]:
        return {int(self._room.host[spot.row]) for plan in plans for spot in plan.spots}

    def _renew(self, room: Room, plans: Sequence[Hold], hosts: set[int]) -> None:
        """Make these hosts what they are now, with what the plans block there."""
        if not hosts:
            return
        room.match(self._room, sorted(hosts))
        for plan in plans:
            for spot, keeps in zip(plan.spots, plan.keeps, strict=True):
                if int(room.host[spot.row]) in hosts:
                    _block(room, spot, keeps, is_alone=plan.job.ask.is_exclusive)


def _block(room: Room, spot: Spot, keeps: tuple[int, int], *, is_alone: bool) -> None:
    cpus, memory = keeps
    frees = room.free[spot.row].tolist()
    whole = tuple(column for column in spot.columns if frees[column] == MILLI)
    if whole or cpus or memory or is_alone:
        host = Ask(len(whole) * MILLI, cpus=cpus, memory_bytes=memory, is_exclusive=is_alone)
        room.take(Spot(spot.row, whole, MILLI), host, _BLOCKED)
    for column in spot.columns:
        if 0 < frees[column] < MILLI:
            room.take(Spot(spot.row, (column,), frees[column], has_host=False), Ask(0), _BLOCKED)


class Respected:
    """Plans that a start must not move. ``but``: all of another one's plans but one."""

    def __init__(self, plans: tuple[Hold, ...], but: "tuple[Respected, Hold] | None" = None) -> None:
        self.plans = plans
        self._but = but
        self._counts: Counter[tuple[int, int]] | None = None
        self._places: frozenset[tuple[int, int]] | None = None

    @property
    def places(self) -> frozenset[tuple[int, int]]:
        """Their rows and columns. Few ask for them, so they are found for who does."""
        if self._places is None:
            self._places = frozenset(self._count()) if self._but is None else self._fewer(*self._but)
        return self._places

    def _count(self) -> Counter[tuple[int, int]]:
        """How many plans are on each place."""
        if self._counts is None:
            self._counts = Counter(place for plan in self.plans for place in plan.places())
        return self._counts

    @staticmethod
    def _fewer(everything: "Respected", own: Hold) -> frozenset[tuple[int, int]]:
        counts = everything._count()
        return everything.places - {place for place in own.places() if counts[place] == 1}


class Plans:
    """The planned starts, and which of them bind whom."""

    def __init__(self, room: Room) -> None:
        self._views = Views(room)
        self._of_job: dict[int, Hold] = {}
        self._before: dict[float, Respected] = {}

    def of(self, job: Job) -> Hold | None:
        return self._of_job.get(job.id)

    def all(self) -> Mapping[int, Hold]:
        """By job, in the order in which they were made."""
        return self._of_job

    def add(self, plan: Hold) -> None:
        self._of_job[plan.job.id] = plan
        for end, known in self._before.items():
            if plan.start < end:
                self._before[end] = Respected((*known.plans, plan))

    def remove(self, job: Job) -> None:
        """The job's plan, which it has."""
        del self._of_job[job.id]
        self._before.clear()

    def before(self, end: float, job: Job) -> Respected:
        """The plans of others that begin before the job's end."""
        if end not in self._before:
            self._before[end] = Respected(tuple(plan for plan in self._of_job.values() if plan.start < end))
        own = self._of_job.get(job.id)
        all_of_them = self._before[end]
        if own is None or own.start >= end:
            return all_of_them
        return Respected(tuple(plan for plan in all_of_them.plans if plan is not own), (all_of_them, own))

    def view(self, end: float, job: Job) -> Room | None:
        """The room for a job that would end then; None where no plan binds it."""
        respected = self.before(end, job)
        if not respected.plans:
            return None
        own, plans = self._of_job.get(job.id), self._before[end].plans
        return (
            self._views.around(end, plans) if own is None or own.start >= end else self._views.without(end, plans, own)
        )
