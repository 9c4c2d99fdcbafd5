"""The rules of a kind: the version in force, a new one by an admin, and the quarterly look at it on record."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.errors import MeanwhileChanged
from approvals.kinds import kind_named
from approvals.models import PolicyReview, PolicyVersion
from approvals.policies import require_policy_editor
from approvals.policy_check import check_rules
from approvals.rules import Rule, written
from kernel import audit, clock
from kernel.errors import Invalid
from kernel.unit import unit_of_work


def policy_in_force(kind: str) -> PolicyVersion:
    """The newest version; the one that the portal comes with is written down when it is first asked for."""
    newest = PolicyVersion.objects.filter(kind=kind).order_by("-number").first()
    if newest is not None:
        return newest
    rules = written(kind_named(kind).default_rules)
    first = PolicyVersion(kind=kind, number=1, rules=rules, created_at=clock.now())
    PolicyVersion.objects.bulk_create([first], ignore_conflicts=True)
    return PolicyVersion.objects.get(kind=kind, number=1)


def policy_set(*, actor: Person, kind: str, rules: Sequence[Rule], seen: int, reason: str) -> PolicyVersion:
    """Put new rules into force for what is submitted from now on; what waits keeps its path. Admins.

    ``seen``: the number of the version that was edited. Raises ``Invalid`` naming the rule and what is wrong,
    ``MeanwhileChanged`` if somebody was quicker.
    """
    with unit_of_work():
        require_policy_editor(actor)
        check_rules(kind_named(kind), rules)
        if not reason.strip():
            raise Invalid({"reason": _("Say why: the reason is kept with the rules.")})
        old = policy_in_force(kind)
        if old.number != seen:
            raise _overtaken(old)
        new = _put(kind, seen + 1, rules, actor, reason)
        before = {"number": old.number, "rules": old.rules}
        after = {"number": new.number, "rules": new.rules, "reason": new.reason}
        audit.record("policy.set", actor=actor, subject=new, before=before, after=after)
    return new


def _put(kind: str, number: int, rules: Sequence[Rule], actor: Person, reason: str) -> PolicyVersion:
    """Of two who set the same number the database lets one through."""
    try:
        with transaction.atomic():
            return PolicyVersion.objects.create(
                kind=kind,
                number=number,
                rules=written(tuple(rules)),
                reason=reason.strip(),
                created_by=actor,
                created_at=clock.now(),
            )
    except IntegrityError as error:
        raise _overtaken(policy_in_force(kind)) from error


def _overtaken(newest: PolicyVersion) -> MeanwhileChanged:
    words = _("%(person)s put version %(number)s into force meanwhile.")
    happened = [words % {"person": newest.created_by or _("The portal"), "number": newest.number}]
    return MeanwhileChanged(data={"version": newest.number, "happened": happened})


def policy_review(*, actor: Person, kind: str, seen: int, note: str = "") -> PolicyReview:
    """Put on record that the rules in force were looked at and still hold. Admins. Raises ``MeanwhileChanged``."""
    with unit_of_work():
        require_policy_editor(actor)
        policy = policy_in_force(kind)
        if policy.number != seen:
            raise _overtaken(policy)
        review = PolicyReview.objects.create(policy=policy, by=actor, at=clock.now(), note=note.strip())
        audit.record("policy.reviewed", actor=actor, subject=policy, after={"note": review.note})
    return review
