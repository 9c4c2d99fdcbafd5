"""What is read about approvals: what waits for whom, what was decided, and the talk about one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.deciders import Decider, deciders, steps_ahead, waiting_among
from approvals.kinds import kind_named
from approvals.models import Answer, Approval, Comment, Delegation, LapseReason, PolicyReview, PolicyVersion, Step, Vote
from approvals.policies import reads_private_notes, visible_to
from approvals.states import OPEN, ApprovalState
from kernel.calendar import organisation_zone
from kernel.formats import said_instant
from kernel.models import StateChange
from kernel.subject import subject_fields

LOOKED_AT = timedelta(days=90)
LEAST_ANSWERS = 3
"""Fewer say nothing about what is typical."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open approval as a list shows it: the step that waits, and everybody who may decide it."""

    approval: Approval
    step: Step | None
    deciders: Sequence[Decider]
    on_behalf_of: int | None = None
    """For whom the reader would decide it; None in their own right, or where they may not."""
    ahead: Sequence[Step] = ()
    """The step that waits and those after it."""

    @property
    def is_stuck(self) -> bool:
        return self.step is not None and not self.deciders


def open_approvals(person: object) -> QuerySet[Approval]:
    """Everything that is not decided and that this person may know of, by answer-by time."""
    rows = visible_to(person).filter(state__in=OPEN).select_related("requester", "policy")
    return rows.order_by("due_at", "submitted_at", "pk")


def split_for(person: Person, rows: Sequence[Approval]) -> tuple[list[Waiting], list[Waiting]]:
    """What of these waits for this person, and what for others. A constant number of statements."""
    ahead = steps_ahead(rows)
    steps = waiting_among(ahead)
    by_approval = deciders(rows, steps)
    mine: list[Waiting] = []
    others: list[Waiting] = []
    for row in rows:
        there = by_approval[row.pk]
        own = next((decider for decider in there if decider.person_id == person.pk), None)
        line = Waiting(row, steps.get(row.pk), there, own.on_behalf_of if own else None, ahead.get(row.pk, ()))
        (others if own is None else mine).append(line)
    return mine, others


def waiting_of(person: Person) -> list[Waiting]:
    """What waits for this person, by answer-by time."""
    rows = open_approvals(person).filter(state=ApprovalState.WAITING)
    return split_for(person, list(rows))[0]


def may_decide(person: object, kind: str, subject_id: int) -> bool:
    """Whether this person could vote on what is asked about this subject now."""
    if not isinstance(person, Person):
        return False
    rows = list(Approval.objects.filter(kind=kind, subject_id=subject_id, state=ApprovalState.WAITING))
    return bool(split_for(person, rows)[0]) if rows else False


def decided(person: object) -> QuerySet[Approval]:
    """What was decided or withdrawn, newest first."""
    rows = visible_to(person).exclude(state__in=OPEN).select_related("requester", "policy")
    return rows.order_by("-decided_at", "-pk")


def approvals_of(kind: str, subject_ids: Sequence[int]) -> dict[int, Approval]:
    """The newest approval about each subject. One statement."""
    rows = Approval.objects.filter(kind=kind, subject_id__in=subject_ids).select_related("requester")
    return {row.subject_id: row for row in rows.order_by("pk")}


def way_of(approval: Approval) -> list[Step]:
    """The steps of this round with their counted votes as ``given``, in order. Two statements."""
    votes = Vote.objects.filter(lapsed_at__isnull=True).select_related("person", "on_behalf_of")
    rows = approval.steps.filter(round=approval.round).order_by("number")
    return list(rows.prefetch_related(Prefetch("votes", queryset=votes, to_attr="given")))


def talk_of(person: object, approval: Approval) -> list[Comment]:
    """The comments this person may read, oldest first; private ones by ``reads_private_notes``."""
    return said_about(approval, with_private=reads_private_notes(person, approval))


def said_about(approval: Approval, *, with_private: bool) -> list[Comment]:
    """The comments, oldest first. One statement."""
    rows = approval.comments.select_related("author").order_by("id")
    return list(rows if with_private else rows.filter(is_private=False))


def votes_of(approval: Approval) -> list[Vote]:
    """Every vote ever given, lapsed ones and those of earlier rounds too."""
    return list(approval.votes.select_related("person", "on_behalf_of", "step").order_by("id"))


def happened_since(approval: Approval, version: int) -> list[str]:
    """What happened after a version, as sentences: for who was looking at that one."""
    lines, zone = [], organisation_zone()
    for vote in approval.votes.filter(version__gt=version).select_related("person").order_by("id"):
        words = {"person": vote.person, "answer": Answer(vote.answer).label, "at": said_instant(vote.at, zone)}
        lines.append(_("%(person)s %(answer)s it on %(at)s.") % words)
    texts = {
        "withdraw": _("%(person)s withdrew it on %(at)s."),
        "submit": _("%(person)s submitted it again on %(at)s."),
        "reopen": _("Since %(at)s a vote no longer counts: %(reason)s"),
    }
    steps = StateChange.objects.filter(**subject_fields(approval), event__in=texts, data__version__gt=version)
    for step in steps.order_by("id"):
        words = {"person": step.actor_name, "at": said_instant(step.at, zone), "reason": LapseReason.words(step.reason)}
        lines.append(texts[step.event] % words)
    if approval.is_automatic:
        lines.append(_("It was granted by the policy."))
    return lines


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """``typical_s``: the median from a submission to its answer; ``count``: of how many."""

    typical_s: float
    count: int


def answer_time(now: datetime, *, kind: str = "", person: Person | None = None) -> AnswerTime | None:
    """Of the answers that people gave in the last 90 days, of one kind or by one person; None where there were too
    few. An answer ends the wait of who asked: a refusal, a question back, or the last approval. One statement."""
    votes = Vote.objects.filter(at__gte=now - LOOKED_AT, lapsed_at__isnull=True).select_related("approval")
    if kind:
        votes = votes.filter(approval__kind=kind)
    last = {(vote.approval_id, vote.round): vote for vote in votes.order_by("id")}
    answers = [vote for vote in last.values() if person is None or vote.person_id == person.pk]
    waits = [wait for vote in answers if (wait := _waited_s(vote)) is not None]
    return AnswerTime(median(waits), len(waits)) if len(waits) >= LEAST_ANSWERS else None


def _waited_s(vote: Vote) -> float | None:
    """From the submission to this last vote of its round; None where it was no answer yet, or nobody can tell."""
    approval = vote.approval
    is_now = vote.round == approval.round
    if vote.answer == Answer.APPROVE and not (is_now and approval.state == ApprovalState.APPROVED):
        return None
    if not is_now and vote.round > 1:
        return None
    return (vote.at - (approval.submitted_at if is_now else approval.requested_at)).total_seconds()


def delegations_of(person: Person, now: datetime) -> QuerySet[Delegation]:
    """Those this person gave or got that are not over, and those to come."""
    rows = Delegation.objects.not_over(now).of(person.pk)
    return rows.select_related("principal", "stand_in", "approval").order_by("during", "pk")


def policy_versions(kind: str) -> QuerySet[PolicyVersion]:
    """Newest first."""
    return PolicyVersion.objects.filter(kind=kind).select_related("created_by").order_by("-number")


def last_review(kind: str) -> PolicyReview | None:
    return PolicyReview.objects.filter(policy__kind=kind).select_related("by", "policy").order_by("-at").first()


def names(person_ids: Sequence[int]) -> Mapping[int, Person]:
    """People by id. One statement."""
    return Person.objects.in_bulk(list(person_ids))


def title_of_kind(approval: Approval) -> str:
    return str(kind_named(approval.kind).label)
