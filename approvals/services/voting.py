"""A vote, and what follows from it: the next step, or the act itself, in one transaction with the vote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals import telling
from approvals.deciders import Decider, current_steps, deciders, excluded, people_now, require_known_side
from approvals.errors import ContentDiffers, MeanwhileChanged, NotYours, OwnRequest
from approvals.kinds import Act, Kind, Locked, kind_named
from approvals.models import Answer, Approval, Step, Vote, plain
from approvals.policies import visible_to
from approvals.rules import choose, missing_steps
from approvals.selectors import happened_since
from approvals.services.path import begin_next, lapse_what_no_longer_counts, lay
from approvals.states import ApprovalState
from kernel import audit, clock
from kernel.errors import Invalid, NotFound, PortalError
from kernel.states import transition
from kernel.unit import lock, unit_of_work

MOST_COMMENT = 2000
_DONE = {Answer.APPROVE: "approved", Answer.REJECT: "rejected", Answer.RETURN: "returned"}


@dataclass(frozen=True, slots=True)
class Ballot:
    """An answer and what it was given on: ``version`` of the approval and ``seen`` hash of the content.

    ``changes``: what is granted instead, such as a smaller amount; on top of what was changed in earlier steps.
    None of ``version`` and ``seen``: as it stands when the vote arrives.
    """

    answer: str
    version: int | None = None
    seen: str | None = None
    comment: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Sitting:
    """One vote about to be counted: everything it depends on, under lock."""

    approval: Approval
    step: Step
    kind: Kind
    actor: Person
    locked: Locked


def approval_vote(*, actor: Person | None, approval_id: int, ballot: Ballot) -> Approval:
    """Answer the step that waits. The last approval carries the act out, in this transaction.

    Rights are judged under lock as they are now; votes given before are judged again before anything is carried out.
    Raises ``NotFound``, ``OwnRequest``, ``NotYours``, ``MeanwhileChanged`` (a second click, a stale page),
    ``CannotTell``, ``ContentDiffers``, ``Invalid``, and whatever the act raises; then nothing has changed.
    """
    answer = _known(ballot)
    with unit_of_work():
        someone = require_signed_in(Person.objects.filter(pk=require_signed_in(actor).pk).first())
        found = visible_to(someone).filter(pk=approval_id).first()
        if found is None:
            raise NotFound
        kind = kind_named(found.kind)
        locked = lock({Approval: [approval_id], **kind.locks(found, answer)})
        approval: Approval = locked[Approval][approval_id]
        step = _step_open_to(approval, ballot)
        decider = _decider(approval, step, someone)
        approval.content = _same_content(approval, kind, ballot, locked)
        changes = kind.checked_changes(approval, ballot.changes) if ballot.changes else dict(approval.changes)
        approval.version += 1
        approval.changes = changes
        _count(_Sitting(approval, step, kind, someone, locked), decider, ballot)
    return approval


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one of many: ``refused`` is empty where it was counted."""

    approval_id: int
    title: str
    refused: str = ""


def approvals_vote_many(*, actor: Person, votes: Sequence[tuple[int, Ballot]]) -> list[Verdict]:
    """Each vote in a unit of its own: one that is refused holds up no other, and says why."""
    verdicts = []
    titles = dict(visible_to(actor).filter(pk__in=[pk for pk, _ballot in votes]).values_list("pk", "title"))
    for pk, ballot in votes:
        try:
            approval_vote(actor=actor, approval_id=pk, ballot=ballot)
        except PortalError as refusal:
            verdicts.append(Verdict(pk, titles.get(pk, ""), refusal.message))
        else:
            verdicts.append(Verdict(pk, titles.get(pk, "")))
    return verdicts


def _known(ballot: Ballot) -> Answer:
    if ballot.answer not in Answer.values:
        text = _("“%(answer)s” is no answer; allowed: %(allowed)s.")
        raise Invalid({"answer": text % {"answer": ballot.answer[:40], "allowed": ", ".join(Answer.values)}})
    answer = Answer(ballot.answer)
    comment = ballot.comment.strip()
    if answer != Answer.APPROVE and not comment:
        raise Invalid({"comment": _("Say why: it is kept and shown to who asked.")})
    if answer != Answer.APPROVE and ballot.changes:
        raise Invalid({"changes": _("Only an approval changes what is granted.")})
    if len(comment) > MOST_COMMENT:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({"comment": text % {"count": len(comment), "most": MOST_COMMENT}})
    return answer


def _step_open_to(approval: Approval, ballot: Ballot) -> Step:
    """The step that waits, of a page that is not stale. Raises ``MeanwhileChanged`` naming what happened."""
    step = current_steps([approval]).get(approval.pk) if approval.state == ApprovalState.WAITING else None
    # Earlier steps may have changed what is granted, and no hash of the content tells: then the version has to.
    is_unsure = ballot.version is None and ballot.seen is not None and bool(approval.changes)
    if step is None or is_unsure or ballot.version not in (None, approval.version):
        happened = happened_since(approval, ballot.version or 0)
        data = {"version": approval.version, "state": approval.state, "happened": happened}
        raise MeanwhileChanged(" ".join([str(MeanwhileChanged.title), *happened]), data=data)
    return step


def _decider(approval: Approval, step: Step, someone: Person) -> Decider:
    people = people_now()
    for decider in deciders([approval], {approval.pk: step}, people)[approval.pk]:
        if decider.person_id == someone.pk:
            return decider
    require_known_side(approval)
    if someone.pk in excluded([approval], people)[approval.pk]:
        raise OwnRequest(_why_excluded(approval, someone), data={"approval": approval.pk})
    raise NotYours(data={"approval": approval.pk})


def _why_excluded(approval: Approval, someone: Person) -> str:
    voted = approval.votes.filter(round=approval.round, lapsed_at__isnull=True)
    if voted.filter(person=someone).exists() or voted.filter(on_behalf_of=someone).exists():
        return _("You, or somebody for you, decided an earlier step: each step is another person's.")
    return str(OwnRequest.title)


def _same_content(approval: Approval, kind: Kind, ballot: Ballot, locked: Locked) -> str:
    """The content as it stands, which is what was looked at. Raises ``ContentDiffers``."""
    now = kind.content(approval, locked)
    if ballot.seen is not None and ballot.seen != now:
        raise ContentDiffers(data={"changed": kind.changed(ballot.seen, now), "content": now})
    return now


def _count(sitting: _Sitting, decider: Decider, ballot: Ballot) -> None:
    approval, answer, comment = sitting.approval, Answer(ballot.answer), ballot.comment.strip()
    vote = Vote.objects.create(
        approval=approval,
        step=sitting.step,
        round=approval.round,
        person=sitting.actor,
        on_behalf_of_id=decider.on_behalf_of,
        answer=answer,
        comment=comment,
        changes={name: approval.changes[name] for name in ballot.changes},
        content=approval.content,
        version=approval.version,
        at=clock.now(),
    )
    after = {**plain(approval), "answer": answer, "comment": comment, "on_behalf_of": str(vote.on_behalf_of or "")}
    telling.settle_waiting(approval)
    audit.record("approval.voted", actor=sitting.actor, subject=approval, after=after)
    if answer != Answer.APPROVE:
        _finish(sitting, answer, comment)
        return
    sitting.step.passed_at = clock.now()
    sitting.step.save(update_fields=["passed_at"])
    _go_on(sitting, comment)


def _go_on(sitting: _Sitting, comment: str) -> None:
    """To the next step, or to the end. What is judged again first: how much is at stake, and who voted before."""
    approval = sitting.approval
    have = [step.rule for step in approval.steps.filter(round=approval.round).order_by("number")]
    rule = choose(approval.policy.parsed, sitting.kind.measures(approval, sitting.locked))
    lay(approval, missing_steps(have, rule.steps), after=len(have))
    lapsed = lapse_what_no_longer_counts(approval)
    if begin_next(approval):
        event, why = ("reopen", lapsed[0]) if lapsed else ("pass", comment)
        fields = ("version", "content", "changes", "due_at")
        data = {"version": approval.version}
        transition(approval, event, actor=sitting.actor, reason=why, data=data, fields=fields)
        return
    _finish(sitting, Answer.APPROVE, comment)


def _finish(sitting: _Sitting, answer: Answer, comment: str) -> None:
    approval, actor = sitting.approval, sitting.actor
    act = Act(approval, actor, answer, comment, approval.changes)
    sitting.kind.carry_out(act, sitting.locked)
    approval.due_at = None
    approval.decided_at = None if answer == Answer.RETURN else clock.now()
    fields = ("version", "content", "changes", "due_at", "decided_at")
    transition(approval, answer, actor=actor, reason=comment, data={"content": approval.content}, fields=fields)
    audit.record(f"approval.{_DONE[answer]}", actor=actor, subject=approval, after=plain(approval))
    telling.tell_answer(approval, answer, actor, comment)
