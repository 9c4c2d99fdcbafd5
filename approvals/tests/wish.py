"""A small room of its own to decide about: somebody wishes for a name, and gets it when it is approved.

The subject is a row of ``Person``; "project" n is the person with that id, who may know of it; ``sides`` says who else
is on its side. What is asked, its measures and the capacity stand on the kind itself, so that tests change them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model, QuerySet

from accounts.models import Person, Role
from accounts.tests import factories as people
from approvals.kinds import Act, Case, Kind, Locked, QueueRow
from approvals.models import Answer, Approval
from approvals.rules import Measures, Rule, StepRule
from approvals.services import (
    Ballot,
    approval_submit,
    approval_vote,
    approval_withdraw,
    delegation_create,
    open_approval_id,
)
from kernel import clock
from kernel.errors import Conflict, Invalid
from kernel.unit import lock, unit_of_work

GRANTED = " (granted)"
ADMIN = StepRule((Role.ADMIN,), answer_hours=24, escalate_to=(Role.DIRECTOR,))
DIRECTOR = StepRule((Role.DIRECTOR,), answer_hours=48)
RULES = (
    Rule("small", (), most_gpus=4, most_days=30),
    Rule("middle", (ADMIN,), most_gpus=32),
    Rule("rest", (ADMIN, DIRECTOR)),
)


@dataclass
class Wish(Kind):
    name = "wish"
    label = "Wish"
    default_rules = RULES
    measured_by = frozenset({"gpus", "days", "tier"})

    asked: dict[int, Measures] = field(default_factory=dict)
    sides: dict[int, frozenset[int]] = field(default_factory=dict)
    free: int | None = 40
    fails: bool = False
    fails_side_of: set[int] = field(default_factory=set)
    side_fault: type[Exception] = LookupError
    done: list[tuple[int, str, str]] = field(default_factory=list)
    granted: list[int | None] = field(default_factory=list)

    def visible_projects(self, person: object) -> QuerySet[Any, int]:
        pk = person.pk if isinstance(person, Person) else 0
        return Person.objects.filter(pk=pk or 0).values_list("pk", flat=True)

    def on_its_side(self, project_ids: Collection[int]) -> Mapping[int, frozenset[int]]:
        if broken := self.fails_side_of & set(project_ids):
            raise self.side_fault(f"cannot tell who is on the side of {sorted(broken)}")
        return {pk: self.sides.get(pk, frozenset()) | {pk} for pk in project_ids}

    def told(self, approval: Approval) -> Iterable[int]:
        return [approval.subject_id]

    def locks(self, approval: Approval, answer: Answer) -> Mapping[type[Model], Iterable[Any]]:
        return {Person: [approval.subject_id]}

    def content(self, approval: Approval, locked: Locked) -> str:
        return content_of(locked[Person][approval.subject_id])

    def changed(self, seen: str, now: str) -> list[str]:
        return ["name"] if seen != now else []

    def measures(self, approval: Approval, locked: Locked) -> Measures:
        return self.asked.get(approval.subject_id, Measures())

    def carry_out(self, act: Act, locked: Locked) -> None:
        if self.fails:
            raise Conflict("nothing is free any more")
        self.done.append((act.approval.subject_id, act.answer, str(act.actor or "the portal")))
        self.granted.append(act.changes.get("gpus"))
        subject = locked[Person][act.approval.subject_id]
        if act.answer == Answer.APPROVE:
            subject.display_name += GRANTED
            subject.save(update_fields=["display_name"])

    def rows(self, approvals: Sequence[Approval], now: datetime) -> Mapping[int, QueueRow]:
        names = dict(Person.objects.filter(pk__in=[row.subject_id for row in approvals]).values_list("pk", "username"))
        return {row.pk: self._row(row, names) for row in approvals}

    def _row(self, row: Approval, names: Mapping[int, str]) -> QueueRow:
        gpus = row.measured.gpus or 0
        free = self.free if gpus else None
        return QueueRow(
            icon="arrow-up",
            what=f"wish of {names[row.subject_id]}",
            gpu_model="H100",
            before="0",
            after=str(gpus),
            asked_more=gpus,
            free=free,
        )

    def address(self, approval: Approval) -> str:
        return f"/wishes/{approval.subject_id}"

    def checked_changes(self, approval: Approval, changes: Mapping[str, Any]) -> dict[str, Any]:
        gpus = changes.get("gpus")
        if not isinstance(gpus, int) or gpus > (approval.measured.gpus or 0):
            raise Invalid({"changes": "only fewer GPUs"})
        return {**approval.changes, "gpus": gpus}


def content_of(subject: Person) -> str:
    return f"name={subject.display_name}"


def submit(kind: Wish, by: Person, *, gpus: int | None = 40, days: int | None = 10, title: str = "") -> Approval:
    """This person asks for a name of their own; asked back, the same approval is submitted again."""
    kind.asked[by.pk] = Measures(gpus=gpus, days=days)
    with unit_of_work():
        pk = open_approval_id(kind.name, by.pk)
        found = lock({Person: [by.pk], **({Approval: [pk]} if pk else {})})
        subject = found[Person][by.pk]
        case = Case(
            kind.name, by.pk, by.pk, title or f"Wish of {by}", content_of(subject), kind.asked[by.pk], {"gpus": gpus}
        )
        return approval_submit(actor=by, case=case, existing=found[Approval][pk] if pk else None, locked=found)


def withdraw(approval: Approval, by: Person) -> Approval:
    with unit_of_work():
        locked: Approval = lock({Approval: [approval.pk]})[Approval][approval.pk]
        approval_withdraw(actor=by, approval=locked)
    return fresh(approval)


def fresh(approval: Approval) -> Approval:
    return Approval.objects.get(pk=approval.pk)


def fresh_person(someone: Person) -> Person:
    """As a new request reads somebody: nothing about roles is remembered."""
    return Person.objects.get(pk=someone.pk)


@dataclass
class Cast:
    """Who takes part: two who ask, two admins, two directors."""

    lin: Person
    kim: Person
    ada: Person
    bob: Person
    dora: Person
    dan: Person


def cast() -> Cast:
    return Cast(
        people.person("lin"),
        people.person("kim"),
        people.admin("ada"),
        people.admin("bob"),
        people.director("dora"),
        people.director("dan"),
    )


def stand_in(principal: Person, other: Person) -> None:
    """For two days from now."""
    delegation_create(
        actor=principal, stand_in_id=other.pk, starts_at=None, ends_at=clock.now() + timedelta(days=2), reason="away"
    )


def vote(approval: Approval, by: Person, answer: str = "approve", **more: object) -> Approval:
    """One vote, with a comment where it needs one."""
    comment = "because" if answer != "approve" else ""
    ballot = Ballot(answer, **{"comment": comment, **more})  # type: ignore[arg-type]
    return approval_vote(actor=fresh_person(by), approval_id=approval.pk, ballot=ballot)
