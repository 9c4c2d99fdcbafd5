"""How the projects of the demo came to where they are: every step of their state, dated. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from projects.states import ProjectState as S

HALF_YEAR = timedelta(days=182)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_LONGEST_WAITS = (15.5, 19.0)
"""Days that two of the submissions have waited; every other one waits for less than twelve."""


@dataclass(frozen=True, slots=True)
class Course:
    """``steps``: events of the project's state machine, in order, with their instants."""

    created_at: datetime
    steps: tuple[tuple[str, datetime], ...] = ()

    def at(self, event: str) -> datetime | None:
        return next((at for step, at in self.steps if step == event), None)

    @property
    def changed_at(self) -> datetime:
        return self.steps[-1][1] if self.steps else self.created_at


def course(random: Random, state: S, place: int, now: datetime) -> Course:
    """``place``: how many of the same state came before it."""
    if state == S.DRAFT:
        return Course(now - random.uniform(0.1, 24) * _DAY)
    if state == S.SUBMITTED:
        return _submitted(random, place, now)
    if state == S.REJECTED:
        return _decided(now - random.uniform(2, 25) * _DAY, ("reject",), random)
    # Two thirds were there when the records begin.
    age = HALF_YEAR if random.random() < 0.66 else random.uniform(12, HALF_YEAR.days) * _DAY
    began = _decided(now - age + random.uniform(0, 6) * _DAY, ("approve",), random)
    if state == S.ACTIVE:
        return began
    latest = 40 if state == S.SUSPENDED else 100
    ended = max(began.changed_at + 3 * _DAY, now - random.uniform(4, latest) * _DAY)
    event = "suspend" if state == S.SUSPENDED else "close"
    return Course(began.created_at, (*began.steps, (event, min(ended, now - _HOUR))))


def _submitted(random: Random, place: int, now: datetime) -> Course:
    waits = random.uniform(1 / 24, 12)
    if place < len(_LONGEST_WAITS):
        waits = _LONGEST_WAITS[place]
    at = now - waits * _DAY
    return Course(at - random.uniform(0.2, 6) * _DAY, (("submit", at),))


def _decided(at: datetime, events: tuple[str], random: Random) -> Course:
    submitted = at - random.uniform(0.5, 5) * _DAY
    created = submitted - random.uniform(0.2, 6) * _DAY
    return Course(created, (("submit", submitted), (events[0], at)))
