"""Who may decide now: the people of the step and their stand-ins, without anybody on the side of who asks.

Asked for many approvals at once, in a constant number of statements. Where something cannot be found out, the
question raises; no answer is ever read as nobody being excluded.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from accounts.models import Person, RoleGrant
from approvals.kinds import kind_named
from approvals.models import Approval, Delegation, Step, Vote
from kernel import clock


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
    """Three statements."""
    now = at or clock.now()
    active = frozenset(Person.objects.filter(is_active=True, is_service=False).values_list("pk", flat=True))
    by_role: defaultdict[str, set[int]] = defaultdict(set)
    for person, role in RoleGrant.objects.filter(revoked_at__isnull=True).values_list("person_id", "role"):
        by_role[role].add(person)
    rows: defaultdict[int, list[Delegation]] = defaultdict(list)
    for row in live_delegations(now):
        rows[row.principal_id].append(row)
    return People(
        active,
        {role: frozenset(held) & active for role, held in by_role.items()},
        {principal: tuple(found) for principal, found in rows.items()},
    )


def live_delegations(at: datetime) -> QuerySet[Delegation]:
    """In force at an instant."""
    return Delegation.objects.filter(revoked_at__isnull=True, during__contains=at).order_by("pk")


def current_steps(approvals: Collection[Approval]) -> dict[int, Step]:
    """The step that waits, by approval. One statement."""
    rows = Step.objects.filter(
        approval__in=[row.pk for row in approvals], started_at__isnull=False, passed_at__isnull=True
    )
    rounds = {row.pk: row.round for row in approvals}
    return {step.approval_id: step for step in rows if step.round == rounds[step.approval_id]}


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
    """Who may not decide, by approval: who asked and who stands in for them, the project's side, and everybody who
    voted in this round or for whom somebody did: each decision is another person's."""
    sides: dict[tuple[str, int], frozenset[int]] = {}
    for name in sorted({row.kind for row in approvals}):
        projects = {row.project_id for row in approvals if row.kind == name and row.project_id is not None}
        found = kind_named(name).on_its_side(projects)
        sides |= {(name, project): found[project] for project in projects}
    voted = _voted(approvals)
    return {
        row.pk: frozenset({row.requester_id})
        | people.standing_in_for(row.requester_id, row.pk)
        | (sides[row.kind, row.project_id] if row.project_id is not None else frozenset())
        | voted[row.pk]
        for row in approvals
    }


def _voted(approvals: Collection[Approval]) -> defaultdict[int, frozenset[int]]:
    rounds = {row.pk: row.round for row in approvals}
    votes = Vote.objects.filter(approval__in=list(rounds), lapsed_at__isnull=True)
    found: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    for pk, number, person, behalf in votes.values_list("approval_id", "round", "person_id", "on_behalf_of_id"):
        if number == rounds[pk]:
            found[pk] |= {person} if behalf is None else {person, behalf}
    return found


def still_counts(vote: Vote, step: Step, people: People) -> bool:
    """Whether who gave this vote could give it now: active, and the one in whose right it was given still holds it.

    A delegation may have ended since: it was in force when the vote was given.
    """
    holder = vote.on_behalf_of_id or vote.person_id
    roles = frozenset(step.roles) | frozenset(step.escalate_to if step.escalated_at else ())
    return vote.person_id in people.active and holder in people.of(roles, step.people)
