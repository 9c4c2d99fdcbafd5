"""Ending what a person may do, in every room at once."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.errors import AlreadySo, OwnAccount
from accounts.models import Offboarding, Person, Role
from accounts.offboarding.steps import Leaving, Line, Succession, steps, successions_of
from accounts.policies import require_role
from accounts.services.admins import refuse_without_admin
from kernel import audit, clock, outbox
from kernel.errors import Invalid
from kernel.unit import lock, unit_of_work

MAX_REASON = 2000
Successors = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Farewell:
    """Why somebody goes, and for each question (``Succession.key``) the id of who takes over, or None for nobody."""

    reason: str
    successors: Successors = field(default_factory=dict)


def person_offboard(*, actor: Person | None, person_id: int, farewell: Farewell) -> Offboarding:
    """From now on this person can do nothing, in no room: every step that rooms registered is carried out, or none.

    An admin's act, never on oneself. Locks the person, the successors, the live grants of the admin role and whatever
    the steps name. Raises ``LastAdmin``, ``AlreadySo``, ``Overtaken``; ``Invalid`` without a reason, and naming each
    question that has no answer, an answer that will not do, or one that nobody asked for. Rooms above hear of it by
    the outbox (``person.deactivated``).
    """
    with unit_of_work():
        _judge(actor, person_id)
        locked = lock(_wanted(person_id, farewell.successors))
        someone = _judge_again(actor)
        person: Person = locked[Person][person_id]
        if not person.is_active:
            raise AlreadySo(_("%(person)s is deactivated already.") % {"person": person})
        refuse_without_admin(person)
        reason = _needed(farewell.reason)
        successors = _judged(person, someone, farewell.successors, locked[Person])
        leaving = Leaving(person, someone, clock.now(), reason, successors, locked)
        lines = [(step.room, line) for step in steps() for line in step.carry_out(leaving)]
        return _written(leaving, lines)


def _judge(actor: Person | None, person_id: int) -> None:
    if actor is not None:
        require_role(actor, Role.ADMIN)
        if actor.pk == person_id:
            raise OwnAccount


def _judge_again(actor: Person | None) -> Person | None:
    """The rights as they are under the lock: of two admins who end each other, the second has none left."""
    return None if actor is None else require_role(Person.objects.get(pk=actor.pk), Role.ADMIN)


def _wanted(person_id: int, successors: Successors) -> dict[type[Model], set[Any]]:
    """All rows of all steps. Successors are locked, too: nobody hands over to who is being off-boarded meanwhile."""
    named = {pk for pk in successors.values() if pk is not None}
    wanted: dict[type[Model], set[Any]] = {
        Person: {person_id, *Person.objects.filter(pk__in=named).values_list("pk", flat=True)}
    }
    for step in steps():
        for model, ids in step.locks(person_id).items():
            wanted.setdefault(model, set()).update(ids)
    return wanted


def _needed(reason: str) -> str:
    tidy = reason.strip()
    if not tidy:
        raise Invalid({"reason": _("Say why: the reason is kept with the report.")})
    if len(tidy) > MAX_REASON:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({"reason": text % {"count": len(tidy), "most": MAX_REASON}})
    return tidy


def _judged(
    person: Person, actor: Person | None, given: Successors, people: Mapping[int, Person]
) -> dict[str, Person | None]:
    """The answers compared with the questions as they stand under the lock. Raises ``Invalid`` with all that is wrong,
    by ``successors.KEY``."""
    asked = successions_of(person)
    faults: dict[str, str] = {}
    for key in asked.keys() | given.keys():
        fault = _fault(key, asked, given, _Side(person, actor, people))
        if fault:
            faults[f"successors.{key}"] = fault
    if faults:
        raise Invalid(dict(sorted(faults.items())))
    return {key: None if pk is None else people[pk] for key, pk in given.items()}


@dataclass(frozen=True, slots=True)
class _Side:
    """Who goes, who acts, and everybody who was named, locked."""

    person: Person
    actor: Person | None
    people: Mapping[int, Person]


def _fault(key: str, asked: Mapping[str, Succession], given: Successors, side: _Side) -> str:
    """What is wrong with one answer; empty if it will do."""
    if key not in asked:
        return _("Number %(key)s needs no successor, or needs none any more. Nothing was done; look again.") % {
            "key": key[:20]
        }
    what = {"name": asked[key].subject.name}
    if key not in given:
        return _("“%(name)s” would be without a lead: name a successor, or choose to leave it without one.") % what
    pk = given[key]
    return "" if pk is None else _unfit(side.people.get(pk), side, what)


def _unfit(successor: Person | None, side: _Side, what: Mapping[str, str]) -> str:
    if successor is None:
        return _("“%(name)s”: there is nobody with this number.") % what
    words = {**what, "person": successor}
    if not successor.is_active:
        return _("“%(name)s”: the account of %(person)s is deactivated.") % words
    if successor == side.person:
        return _("“%(name)s”: %(person)s is the one who leaves.") % words
    if successor == side.actor:
        return _("“%(name)s”: nobody puts themselves at the head of a project. Name somebody else.") % words
    if successor.is_service:
        return _("“%(name)s”: %(person)s is a service account; a person takes over.") % words
    return ""


def _written(leaving: Leaving, lines: Iterable[tuple[str, Line]]) -> Offboarding:
    """The report, and the news."""
    person = leaving.person
    told = [{"room": room, **asdict(line), "items": [asdict(item) for item in line.items]} for room, line in lines]
    report = Offboarding.objects.create(
        person=person, by=leaving.actor, at=leaving.at, reason=leaving.reason, lines=told
    )
    counts = {f"{row['room']}: {row['what']}": row["count"] for row in told if row["count"] is not None}
    audit.record(
        "person.deactivated",
        actor=leaving.actor,
        subject=person,
        before={"is_active": True},
        after={"is_active": False, "tokens_revoked": counts.get("accounts: tokens", 0)},
    )
    after = {"report": report.pk, "reason": leaving.reason, **counts}
    audit.record("person.offboarded", actor=leaving.actor, subject=person, after=after)
    outbox.emit("person.deactivated", subject=person, data={"person_id": person.pk})
    return report
