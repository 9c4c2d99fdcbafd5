"""A room hands in what is to be decided, and takes it back. Called in the room's unit, under the subject's lock."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals import telling
from approvals.deciders import current_steps, deciders
from approvals.errors import AlreadyOpen, MeanwhileChanged
from approvals.kinds import Act, Case, Locked, kind_named
from approvals.models import Answer, Approval, plain
from approvals.policies import rules_for
from approvals.rules import choose
from approvals.services.path import begin_next, lay
from approvals.services.policy import policy_in_force
from approvals.services.voting import MOST_COMMENT
from approvals.states import OPEN
from kernel import audit, clock
from kernel.states import transition
from kernel.unit import lock


def approval_submit(*, actor: Person, case: Case, existing: Approval | None, locked: Locked) -> Approval:
    """Ask for a decision; where the policy says so, it is granted at once by the portal itself.

    ``existing``: the locked approval that was asked back, None for a first submission. ``locked``: what
    ``Kind.locks`` names for an approval, for it may be carried out here. Raises ``AlreadyOpen``,
    ``IllegalTransition``, and whatever carrying it out raises.
    """
    policy = policy_in_force(case.kind)
    rule = choose(rules_for(actor, policy), case.measures)
    now = clock.now()
    if existing is None:
        if open_approval_id(case.kind, case.subject_id) is not None:
            raise AlreadyOpen
        approval = Approval(kind=case.kind, subject_id=case.subject_id, requested_at=now)
    else:
        approval = existing
        approval.round += 1
        approval.version += 1
    _fill(approval, actor, case)
    approval.policy, approval.rule, approval.submitted_at = policy, rule.name, now
    approval.changes = {}
    approval.save()
    if existing is not None:
        transition(approval, "submit", actor=actor, data={"version": approval.version})
        telling.settle_question(approval)
    audit.record("approval.submitted", actor=actor, subject=approval, after=plain(approval))
    if rule.steps:
        lay(approval, rule.steps)
        begin_next(approval)
        approval.save(update_fields=["due_at"])
    else:
        _grant(approval, locked)
    return approval


def approval_withdraw(*, actor: Person | None, approval: Approval, reason: str = "") -> None:
    """Take back what was not decided yet. ``approval`` is locked by the caller. Raises ``IllegalTransition``."""
    Approval.machine.target(approval.state, "withdraw")
    steps = current_steps([approval])
    could = [row.person_id for row in deciders([approval], steps)[approval.pk]]
    approval.version += 1
    approval.due_at, approval.decided_at = None, clock.now()
    fields = ("version", "due_at", "decided_at")
    transition(approval, "withdraw", actor=actor, reason=reason, data={"version": approval.version}, fields=fields)
    audit.record("approval.withdrawn", actor=actor, subject=approval, after=plain(approval))
    telling.settle_waiting(approval)
    telling.settle_question(approval)
    telling.tell_withdrawn(approval, actor, could)


def lock_with_open(kind: str, subject_id: int, wanted: Mapping[type[Model], Iterable[Any]]) -> dict[Any, Any]:
    """Lock ``wanted``, the subject among it, and the approval about the subject that is open: under ``Approval`` it
    stands, or nothing.

    Raises ``MeanwhileChanged`` where another was opened between the look and the lock.
    """
    known = open_approval_id(kind, subject_id)
    locked = lock({Approval: [] if known is None else [known], **wanted})
    still = open_approval_id(kind, subject_id)
    if still not in (None, known):
        raise MeanwhileChanged
    return {**locked, Approval: {} if still is None else locked[Approval]}


def opened(locked: Locked) -> Approval | None:
    """The open approval of what ``lock_with_open`` locked, if there is one."""
    return next(iter(locked[Approval].values()), None)


def open_approval_id(kind: str, subject_id: int) -> int | None:
    """The approval about this that is not decided."""
    rows = Approval.objects.filter(kind=kind, subject_id=subject_id, state__in=OPEN)
    return rows.values_list("pk", flat=True).first()


def answer_faults(asked_by: Person | None, answer: str) -> dict[str, str]:
    """What is wrong with the answer with which something is submitted again: it is needed exactly while a question is
    open. ``asked_by``: whose question that is, None where none is open."""
    if asked_by is not None and not answer:
        text = _("Answer the question of %(person)s: the answer is kept and shown to whoever decides.")
        return {"answer": text % {"person": asked_by}}
    if asked_by is None and answer:
        return {"answer": _("No question is open.")}
    if len(answer) > MOST_COMMENT:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        return {"answer": text % {"count": len(answer), "most": MOST_COMMENT}}
    return {}


def _fill(approval: Approval, actor: Person, case: Case) -> None:
    approval.project_id, approval.title, approval.requester = case.project_id, case.title[:200], actor
    approval.content, approval.measures, approval.summary = case.content, case.measures.plain(), dict(case.summary)
    approval.is_automatic, approval.due_at, approval.decided_at = False, None, None


def _grant(approval: Approval, locked: Locked) -> None:
    kind = kind_named(approval.kind)
    approval.is_automatic, approval.decided_at = True, clock.now()
    kind.carry_out(Act(approval, None, Answer.APPROVE), locked)
    transition(approval, "approve", actor=None, fields=("is_automatic", "decided_at"))
    audit.record("approval.approved", actor=None, subject=approval, after={**plain(approval), "is_automatic": True})
    telling.tell_answer(approval, Answer.APPROVE, None, "")
