"""Votes that no longer count, because who gave them lost the right or left: their steps wait for others again."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from approvals.models import Approval, Vote
from approvals.services.path import begin_next, lapse_what_no_longer_counts
from approvals.states import ApprovalState
from kernel import audit, sweep
from kernel.states import transition
from kernel.subject import Actor
from kernel.unit import lock


def open_votes_of(person_id: int) -> QuerySet[Vote]:
    """Votes that count in approvals that wait, given by this person or in their right."""
    gave = Q(person=person_id) | Q(on_behalf_of=person_id)
    rows = Vote.objects.filter(gave, lapsed_at__isnull=True, approval__state=ApprovalState.WAITING)
    return rows.select_related("approval", "step").order_by("approval_id", "id")


def votes_judge_again(person_id: int) -> int:
    """After somebody lost a role: what they approved and is still open is decided again. How many approvals; each in
    a unit of its own. Running it twice changes nothing more."""
    ids = sorted({vote.approval_id for vote in open_votes_of(person_id)})
    return sum(sweep.each("approvals.judge_again", ids, _judge_again))


def _judge_again(approval_id: int) -> bool:
    approval: Approval = lock({Approval: [approval_id]})[Approval][approval_id]
    return approval.state == ApprovalState.WAITING and bool(reopen([approval], None))


def reopen(approvals: Iterable[Approval], actor: Actor) -> list[Approval]:
    """Of these locked ones that wait, those in which a vote lapsed; they are at the step of that vote again."""
    reopened = []
    for approval in approvals:
        reasons = lapse_what_no_longer_counts(approval)
        if not reasons:
            continue
        approval.version += 1
        begin_next(approval)
        fields = ("version", "changes", "due_at")
        data = {"version": approval.version}
        transition(approval, "reopen", actor=actor, reason=reasons[0], data=data, fields=fields)
        audit.record("approval.reopened", actor=actor, subject=approval, after={"reasons": reasons})
        reopened.append(approval)
    return reopened
