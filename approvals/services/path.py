"""The steps of one round: laid down from a rule, begun one after the other."""

from collections.abc import Sequence
from datetime import timedelta

from approvals import telling
from approvals.deciders import asking_side, current_steps, deciders, people_now, still_counts
from approvals.models import Answer, Approval, LapseReason, Step, Vote
from approvals.rules import StepRule
from kernel import clock


def lay(approval: Approval, rules: Sequence[StepRule], *, after: int = 0) -> None:
    """Append these steps to the round, numbered from ``after``."""
    Step.objects.bulk_create(
        Step(
            approval=approval,
            round=approval.round,
            number=after + index,
            roles=list(rule.roles),
            people=list(rule.people),
            answer_hours=rule.answer_hours,
            escalate_to=list(rule.escalate_to),
        )
        for index, rule in enumerate(rules)
    )


def begin_next(approval: Approval) -> bool:
    """Begin the first step of the round that is not through, and tell who may decide it. False: all are through.

    ``due_at`` of the approval becomes the step's; the caller saves it.
    """
    step = approval.steps.filter(round=approval.round, passed_at__isnull=True).order_by("number").first()
    if step is None:
        approval.due_at = None
        return False
    if step.started_at is None:
        step.started_at = clock.now()
        step.due_at = step.started_at + timedelta(hours=step.answer_hours)
        step.save(update_fields=["started_at", "due_at"])
    approval.due_at = step.due_at
    tell(approval, step)
    return True


def tell(approval: Approval, step: Step) -> None:
    """Whoever may decide the step hears of it; where nobody can, its ``escalate_to`` may at once, or admins hear."""
    rows = {approval.pk: (approval, step)}
    found = deciders([approval], {approval.pk: step})
    if not found[approval.pk] and step.escalate_to and step.escalated_at is None:
        step.escalated_at = clock.now()
        step.save(update_fields=["escalated_at"])
        found = deciders([approval], {approval.pk: step})
    if found[approval.pk]:
        telling.tell_deciders(found, rows)
    else:
        telling.tell_unroutable(rows.values())


def lapse_what_no_longer_counts(approval: Approval) -> list[LapseReason]:
    """Votes that could not be given now lapse, and their steps wait again; where no vote is left, nothing is changed
    any more. Why, for each; the caller saves the approval. None lapses while the side of who asks cannot be told.

    A vote counts while who gave it is active, holds the right it was given in and is not on the side of who asks, and
    for the content it was given on. What was carried out already is never touched: call it for an approval that is
    open and locked.
    """
    void = void_votes([approval]).get(approval.pk, [])
    for vote, why in void:
        vote.lapsed_at, vote.lapse_reason = clock.now(), why
        vote.save(update_fields=["lapsed_at", "lapse_reason"])
    if void:
        first = min(vote.step.number for vote, _why in void)
        again = {vote.step_id for vote, _why in void}
        again |= {step.pk for step in current_steps([approval]).values() if step.number > first}
        approval.steps.filter(pk__in=again).update(
            passed_at=None, started_at=None, due_at=None, reminded_at=None, escalated_at=None
        )
        if not approval.votes.filter(round=approval.round, lapsed_at__isnull=True).exists():
            # Whoever else approved looked at what was changed: then it stays.
            approval.changes = {}
    return [why for _vote, why in void]


def void_votes(approvals: Sequence[Approval]) -> dict[int, list[tuple[Vote, LapseReason]]]:
    """The votes of the round that could not be given now, and why, by approval; those that have any. A constant number
    of statements."""
    people = people_now()
    asking = asking_side(approvals, people)
    told = {row.pk: row for row in approvals if asking[row.pk] is not None}
    votes = Vote.objects.filter(approval__in=list(told), lapsed_at__isnull=True, answer=Answer.APPROVE)
    found: dict[int, list[tuple[Vote, LapseReason]]] = {}
    for vote in votes.select_related("step"):
        approval, side = told[vote.approval_id], asking[vote.approval_id]
        if vote.round != approval.round or side is None:
            continue
        why = _why_void(vote, approval, still_counts(vote, vote.step, people, side))
        if why is not None:
            found.setdefault(approval.pk, []).append((vote, why))
    return found


def _why_void(vote: Vote, approval: Approval, counts: bool) -> LapseReason | None:
    if vote.content != approval.content:
        return LapseReason.CONTENT
    return None if counts else LapseReason.RIGHT
