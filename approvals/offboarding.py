"""What somebody who leaves gives up here: stand-ins end both ways, votes on what is open lapse, requests go on."""

from django.utils.translation import gettext_lazy as _

from accounts.errors import Overtaken
from accounts.models import Person
from accounts.offboarding.steps import Item, Leaving, Line, OffboardingStep, Rows, register
from approvals.kinds import kind_named
from approvals.models import Approval, Delegation
from approvals.policies import names_person, policies_in_force
from approvals.services.leaving import open_votes_of, reopen
from approvals.states import OPEN
from kernel import audit, clock
from kernel.audit import Change

STAND_INS, VOTES, REQUESTS, RULES = "stand_ins", "votes", "requests", "rules"


def _delegations(person_id: int) -> list[Delegation]:
    """Given by them or to them, in force or to come."""
    rows = Delegation.objects.not_over(clock.now()).of(person_id)
    return list(rows.select_related("principal", "stand_in").order_by("pk"))


def _voted(person_id: int) -> list[Approval]:
    return list({vote.approval_id: vote.approval for vote in open_votes_of(person_id)}.values())


def _locks(person_id: int) -> Rows:
    return {
        Delegation: [row.pk for row in _delegations(person_id)],
        Approval: [row.pk for row in _voted(person_id)],
    }


def _preview(person: Person) -> list[Line]:
    stand_ins = [Item(f"{row.principal} → {row.stand_in}") for row in _delegations(person.pk)]
    votes = [Item.of(row) for row in _voted(person.pk)]
    return [*Line.of(STAND_INS, stand_ins), *Line.of(VOTES, votes), *_requests(person), *_rules(person)]


def _requests(person: Person) -> list[Line]:
    """They are the project's: its leads can take them back."""
    rows = Approval.objects.filter(requester=person, state__in=OPEN).order_by("pk")
    return Line.of(REQUESTS, [Item.of(row) for row in rows])


def _rules(person: Person) -> list[Line]:
    """Policies in force that name them: who may, decides without them, and an admin names somebody else."""
    named = [policy for policy in policies_in_force() if names_person(policy.parsed, person.pk)]
    return Line.of(RULES, [Item(str(kind_named(policy.kind).label)) for policy in named])


def _carry_out(leaving: Leaving) -> list[Line]:
    """The roles are revoked by now: the room below, accounts, goes first."""
    delegations, voted = _delegations(leaving.person.pk), _voted(leaving.person.pk)
    held = leaving.locked[Delegation], leaving.locked[Approval]
    if any(row.pk not in held[0] for row in delegations) or any(row.pk not in held[1] for row in voted):
        raise Overtaken
    Delegation.objects.filter(pk__in=[row.pk for row in delegations]).update(revoked_at=leaving.at)
    audit.record_many("delegation.revoked", actor=leaving.actor, changes=[Change(row) for row in delegations])
    open_again = reopen([held[1][row.pk] for row in voted], leaving.actor)
    return [
        *Line.of(STAND_INS, [Item(f"{row.principal} → {row.stand_in}") for row in delegations]),
        *Line.of(VOTES, [Item.of(row) for row in open_again]),
        *_requests(leaving.person),
        *_rules(leaving.person),
    ]


def register_step() -> None:
    """Called once, when the room is ready."""
    register(
        OffboardingStep(
            room="approvals",
            title=_("Approvals"),
            words={
                STAND_INS: _("Standing in for somebody, and stand-ins: ended"),
                VOTES: _("Votes on what is not decided yet: lapsed, others decide these steps again"),
                RULES: _("Policies that name them: an admin names somebody else there"),
                REQUESTS: _("Requests that wait: go on, the project's leads can withdraw them"),
            },
            preview=_preview,
            carry_out=_carry_out,
            locks=_locks,
        )
    )
