"""What is decided: each room above registers its kinds here, and is asked and told through them.

The flow knows nothing of projects or quotas. A kind answers what is asked, who is on which side and what a decision
does; it raises where it cannot tell, and then nothing is decided.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.models import Answer, Approval
from approvals.rules import Measures, Rule
from kernel.errors import Invalid

Locked = Mapping[type[Model], Mapping[Any, Any]]
"""Rows by model and primary key, as ``kernel.unit.lock`` returns them."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a room hands in for a decision, in the unit that holds the subject's lock."""

    kind: str
    subject_id: int
    project_id: int | None
    title: str
    content: str
    measures: Measures
    summary: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Act:
    """One decision to be carried out: by whom (None: the portal, automatically), why, and with which changes."""

    approval: Approval
    actor: Person | None
    answer: Answer
    reason: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """What a list shows of one approval. Amounts are whole GPUs.

    ``asked_more`` of ``free``: whether it fits; ``free`` None where it touches no guarantee.
    """

    icon: str
    what: str
    """The kind of change in words: ``Raise until 30 Jun``."""
    gpu_model: str = ""
    before: str = ""
    after: str = ""
    asked_more: int = 0
    free: int | None = None
    title: str = ""
    """What stands first, where the change says the rest: the project. Empty: the approval's own title."""

    @property
    def fits(self) -> bool | None:
        return None if self.free is None else self.asked_more <= self.free


class Kind(ABC):
    """One kind of thing that is decided. Methods about several approvals take a constant number of statements."""

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    default_rules: ClassVar[tuple[Rule, ...]]
    """The policy that the portal comes with."""
    measured_by: ClassVar[frozenset[str]] = frozenset()
    """Which measures this kind knows: only for these a policy may name bounds."""

    @abstractmethod
    def visible_projects(self, person: object) -> QuerySet[Any, int]:
        """Ids of the projects whose requests of this kind the person may know of."""

    @abstractmethod
    def on_its_side(self, project_ids: Collection[int]) -> Mapping[int, frozenset[int]]:
        """By project: the people who may not decide for it, because they are or were on its side.

        Raises ``LookupError`` where it cannot tell: then nobody decides.
        """

    @abstractmethod
    def told(self, approval: Approval) -> Iterable[int]:
        """Ids of the people who hear how it ends, beside who asked."""

    @abstractmethod
    def locks(self, approval: Approval, answer: Answer) -> Mapping[type[Model], Iterable[Any]]:
        """The rows that carrying out this answer needs locked."""

    @abstractmethod
    def content(self, approval: Approval, locked: Locked) -> str:
        """The hash of what is asked as it stands under lock."""

    def contents_shown(self, approvals: Sequence[Approval]) -> Mapping[int, str]:
        """The hashes of what a page shows now, by approval. Most content is fixed while it waits; a kind of which
        parts may change meanwhile answers anew, in a constant number of statements."""
        return {row.pk: row.content for row in approvals}

    @abstractmethod
    def changed(self, seen: str, now: str) -> list[str]:
        """In which fields two such hashes differ, by name."""

    def field_word(self, field: str) -> str:
        """What a person calls a field."""
        return field

    @abstractmethod
    def measures(self, approval: Approval, locked: Locked) -> Measures:
        """By what it is judged as things stand now."""

    @abstractmethod
    def carry_out(self, act: Act, locked: Locked) -> None:
        """Do what the decision says to the subject. Raises ``PortalError`` where it cannot be; nothing is kept then."""

    @abstractmethod
    def rows(self, approvals: Sequence[Approval], now: datetime) -> Mapping[int, QueueRow]:
        """What lists show of each, by approval."""

    @abstractmethod
    def address(self, approval: Approval) -> str:
        """Where who asked finds it."""

    def checked_changes(self, approval: Approval, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes as plain values, on top of what was changed before. Raises ``Invalid``.

        Whatever a kind allows here must ask for less than before: votes that were given stay true. A kind that says
        nothing is decided as it was asked, or not at all.
        """
        raise Invalid({"changes": _("%(kind)s: nothing can be changed about it.") % {"kind": self.label}})


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """In ``AppConfig.ready``. Doing it again with the same class changes nothing; another class is a fault."""
    known = _kinds.get(kind.name)
    if known is not None and type(known) is not type(kind):
        raise ValueError(f"kind {kind.name} is registered already")
    _kinds[kind.name] = kind


def kind_named(name: str) -> Kind:
    """Raises ``LookupError`` for a name that no room registered: nothing is decided about what nobody knows."""
    if name not in _kinds:
        raise LookupError(f"no room registered the kind {name}")
    return _kinds[name]


def by_kind(approvals: Sequence[Approval]) -> list[tuple[Kind, list[Approval]]]:
    """Each kind with its own of them: what is asked of many is asked once for each kind."""
    names = sorted({row.kind for row in approvals})
    return [(kind_named(name), [row for row in approvals if row.kind == name]) for name in names]


def contents_shown(approvals: Sequence[Approval]) -> dict[int, str]:
    """The hash of what a page shows now, by approval: an answer holds for it."""
    return {pk: content for kind, rows in by_kind(approvals) for pk, content in kind.contents_shown(rows).items()}


def kinds() -> list[Kind]:
    """Every kind, by name."""
    return [_kinds[name] for name in sorted(_kinds)]
