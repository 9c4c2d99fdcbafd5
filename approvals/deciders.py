"""Who may decide now: the people of the step and their stand-ins, without anybody on the side of who asks.

Asked for many approvals at once, in a constant number of statements. Where something cannot be found out, everybody is
excluded; no answer is ever read as nobody being so.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db.models import FilteredRelation, Q, QuerySet

from accounts.models import Person
from approvals.errors import CannotTell
from approvals.kinds import Kind, kind_named
from approvals.models import Approval, Delegation, Step, Vote
from kernel import clock

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Decider:
    """Somebody who may decide, in their own right or for somebody else."""

    person_id: int
    on_behalf_of: int | None = None


@dataclass(frozen=True, slots=True)
class People:
    """Who is active and what they hold, read once. Accounts of programs are not people."""

    active: frozenset[int]
    by_role: Mapping[str, frozenset[int]]
    stand_ins: Mapping[int, tuple[Delegation, ...]]
    """Live delegations by principal."""

    def of(self, roles: Collection[str], people: Collection[int]) -> frozenset[int]:
        held: set[int] = set()
        for role in roles:
            held |= self.by_role.get(role, frozenset())
        return (frozenset(held) | frozenset(people)) & self.active

    def standing_in_for(self, person_id: int, approval_id: int) -> frozenset[int]:
        """Who stands in for somebody on this approval."""
        rows = self.stand_ins.get(person_id, ())
        return frozenset(row.stand_in_id for row in rows if row.approval_id in (None, approval_id))


def people_now(at: datetime | None = None) -> People:
    """Two statements."""
    live = FilteredRelation("role_grants", condition=Q(role_grants__revoked_at__isnull=True))
    people = Person.objects.filter(is_active=True, is_service=False).annotate(live=live)
    by_role: defaultdict[str, set[int]] = defaultdict(set)
    active: set[int] = set()
    for person, role in people.values_list("pk", "live__role"):
        active.add(person)
        if role is not None:
            by_role[role].add(person)
    stand_ins: defaultdict[int, list[Delegation]] = defaultdict(list)
    for row in live_delegations(at or clock.now()):
        stand_ins[row.principal_id].append(row)
    return People(
        frozenset(active),
        {role: frozenset(held) for role, held in by_role.items()},
        {principal: tuple(found) for principal, found in stand_ins.items()},
    )


def live_delegations(at: datetime) -> QuerySet[Delegation]:
    """In force at an instant."""
    return Delegation.objects.filter(revoked_at__isnull=True, during__contains=at).order_by("pk")


def steps_ahead(approvals: Collection[Approval]) -> dict[int, list[Step]]:
    """The steps of the round that are not through, in order, by approval. One statement."""
    rounds = {row.pk: row.round for row in approvals}
    found: dict[int, list[Step]] = {}
    for step in Step.objects.filter(approval__in=list(rounds), passed_at__isnull=True).order_by("number"):
        if step.round == rounds[step.approval_id]:
            found.setdefault(step.approval_id, []).append(step)
    return found


def waiting_among(ahead: Mapping[int, Sequence[Step]]) -> dict[int, Step]:
    """Of such steps the one that waits: it has begun. By approval."""
    begun = {pk: next((step for step in steps if step.started_at is not None), None) for pk, steps in ahead.items()}
    return {pk: step for pk, step in begun.items() if step is not None}


def current_steps(approvals: Collection[Approval]) -> dict[int, Step]:
    """The step that waits, by approval. One statement."""
    return waiting_among(steps_ahead(approvals))


def deciders(
    approvals: Sequence[Approval], steps: Mapping[int, Step], people: People | None = None
) -> dict[int, tuple[Decider, ...]]:
    """Who may decide the step that waits, by approval; an approval without one has nobody."""
    there = people or people_now()
    out = excluded(approvals, there)
    return {row.pk: _of_step(row, steps[row.pk], there, out[row.pk]) if row.pk in steps else () for row in approvals}


def _of_step(approval: Approval, step: Step, people: People, out: frozenset[int]) -> tuple[Decider, ...]:
    own = people.of(step.open_to, step.people) - out
    found = [Decider(person) for person in sorted(own)]
    for principal in sorted(own):
        for stand_in in sorted(people.standing_in_for(principal, approval.pk) & people.active - out - own):
            found.append(Decider(stand_in, principal))
    return tuple(found)


def excluded(approvals: Sequence[Approval], people: People) -> dict[int, frozenset[int]]:
    """Who may not decide, by approval: the side of who asks, and everybody who voted in this round or for whom somebody
    did: each decision is another person's."""
    asking, voted = asking_side(approvals, people), _voted(approvals)
    return {row.pk: people.active if (side := asking[row.pk]) is None else side | voted[row.pk] for row in approvals}


def asking_side(approvals: Sequence[Approval], people: People) -> dict[int, frozenset[int] | None]:
    """By approval: who asked, the project's side, and who stands in for any of them. None where it cannot be told."""
    sides = _sides(approvals)
    found: dict[int, frozenset[int] | None] = {}
    for row in approvals:
        side = frozenset() if row.project_id is None else sides[row.kind, row.project_id]
        if side is None:
            found[row.pk] = None
            continue
        whole = side | {row.requester_id}
        principals = whole & people.stand_ins.keys()
        found[row.pk] = whole.union(*(people.standing_in_for(person, row.pk) for person in principals))
    return found


def side_of(approval: Approval) -> frozenset[int] | None:
    """The project's side alone; None where it cannot be told."""
    return frozenset() if approval.project_id is None else _sides([approval])[approval.kind, approval.project_id]


def require_known_side(approval: Approval) -> None:
    """Raises ``CannotTell``."""
    if side_of(approval) is None:
        raise CannotTell


def _sides(approvals: Sequence[Approval]) -> dict[tuple[str, int], frozenset[int] | None]:
    """By kind and project; None where it cannot be told. Kinds that answer by the same rule are asked once."""
    by_rule: dict[object, tuple[Kind, set[int], set[str]]] = {}
    for row in approvals:
        if row.project_id is not None:
            kind = kind_named(row.kind)
            _kind, projects, names = by_rule.setdefault(type(kind).on_its_side, (kind, set(), set()))
            projects.add(row.project_id)
            names.add(row.kind)
    sides: dict[tuple[str, int], frozenset[int] | None] = {}
    for kind, projects, names in by_rule.values():
        found = _sides_of(kind, projects)
        sides |= {(name, project): found.get(project) for name in names for project in projects}
    return sides


def _sides_of(kind: Kind, projects: Collection[int]) -> Mapping[int, frozenset[int]]:
    """Those that can be told: one that cannot keeps no other."""
    try:
        return kind.on_its_side(projects)
    except LookupError:
        _log.exception("side_not_told", kind=kind.name, projects=sorted(projects))
    if len(projects) == 1:
        return {}
    return {pk: side for project in projects for pk, side in _sides_of(kind, {project}).items()}


def _voted(approvals: Collection[Approval]) -> defaultdict[int, frozenset[int]]:
    rounds = {row.pk: row.round for row in approvals}
    votes = Vote.objects.filter(approval__in=list(rounds), lapsed_at__isnull=True)
    found: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    for pk, number, person, behalf in votes.values_list("approval_id", "round", "person_id", "on_behalf_of_id"):
        if number == rounds[pk]:
            found[pk] |= {person} if behalf is None else {person, behalf}
    return found


def still_counts(vote: Vote, step: Step, people: People, asking: frozenset[int]) -> bool:
    """Whether who gave this vote could give it now: active, the one in whose right it was given still holds it, and
    neither has come to the side of who asks (``asking``).

    A delegation may have ended since: it was in force when the vote was given.
    """
    holder = vote.on_behalf_of_id or vote.person_id
    if not asking.isdisjoint({vote.person_id, holder}):
        return False
    roles = frozenset(step.roles) | frozenset(step.escalate_to if step.escalated_at else ())
    return vote.person_id in people.active and holder in people.of(roles, step.people)
