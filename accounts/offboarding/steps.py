"""What a room says and does when somebody leaves. Rooms register in ``AppConfig.ready``; accounts knows none of them.

The act (``accounts.services.person_offboard``) takes every row that the steps name under one ``lock()``, asks the
questions again under it, and then carries the steps out in the order in which they were registered. Whatever raises
undoes all of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Model
from django.utils.functional import Promise

from accounts.models import Person

WORD = "word"
Rows = Mapping[type[Model], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing by name. ``kind`` and ``pk`` name its row (``projects.project``, 7); ``note`` says more of it. Of kind
    ``WORD`` the name is a message of the catalogue, said in the reader's language."""

    name: str
    kind: str = ""
    pk: int | None = None
    note: str = ""

    @classmethod
    def of(cls, row: Model, note: object = "") -> "Item":
        return cls(str(row), row._meta.label_lower, row.pk, str(note))


@dataclass(frozen=True, slots=True)
class Line:
    """What ends, is handed over or stays, by a word of the step's own. ``count`` None: cannot be counted."""

    what: str
    items: Sequence[Item] = ()
    count: int | None = None

    @classmethod
    def of(cls, what: str, items: Sequence[Item]) -> "list[Line]":
        """One line with as many things as it names, or no line."""
        return [cls(what, items, len(items))] if items else []


@dataclass(frozen=True, slots=True)
class Succession:
    """A question: who takes this over? ``key`` is unique among all steps; ``team`` are people who know the thing, the
    most likely first. Nobody is an answer, too, but has to be given."""

    key: str
    subject: Item
    team: Sequence[Person] = ()


@dataclass(frozen=True, slots=True)
class Leaving:
    """The act, as each step sees it. All rows in ``locked`` are locked and fresh; ``actor`` None is the portal."""

    person: Person
    actor: Person | None
    at: datetime
    reason: str
    successors: Mapping[str, Person | None]
    """For every question of every step by its key: who takes over, or None where the actor chose nobody."""
    locked: Mapping[type[Model], Mapping[Any, Any]]


def _no_questions(_person: Person) -> list[Succession]:
    return []


@dataclass(frozen=True, slots=True)
class OffboardingStep:
    """One room's part. Nothing of it may cost statements by the number of things.

    ``words`` says each ``Line.what`` in words that fit before the act and after it. ``locks`` names, without locking,
    the rows that ``carry_out`` relies on; what it finds beyond them under the lock it refuses with ``Overtaken``.
    ``carry_out`` writes history, audit entries and events of its own room and returns what it did.
    """

    room: str
    title: str | Promise
    words: Mapping[str, str | Promise]
    preview: Callable[[Person], list[Line]]
    carry_out: Callable[[Leaving], list[Line]]
    locks: Callable[[int], Rows] = field(default=lambda _person_id: {})
    successions: Callable[[Person], list[Succession]] = _no_questions


_steps: dict[str, OffboardingStep] = {}


def register(step: OffboardingStep) -> OffboardingStep:
    """Called in ``AppConfig.ready``, once for each room."""
    _steps[step.room] = step
    return step


def steps() -> list[OffboardingStep]:
    return list(_steps.values())


def successions_of(person: Person) -> dict[str, Succession]:
    """Every question that has to be answered now, by its key."""
    return {asked.key: asked for step in steps() for asked in step.successions(person)}


def room_words(room: str) -> str:
    """What a room is called; one that is there no more by its own name."""
    return str(_steps[room].title) if room in _steps else room


def line_words(room: str, what: str) -> str:
    """A line of a report in words."""
    step = _steps.get(room)
    return str(step.words.get(what, what)) if step else what
