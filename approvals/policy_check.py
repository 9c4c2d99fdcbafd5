"""Whether rules can be a policy: each fault names its rule."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.kinds import Kind
from approvals.policies import DECIDING
from approvals.rules import Rule, StepRule
from kernel.errors import Invalid

MOST_RULES = 20
MOST_STEPS = 5
MOST_HOURS = 24 * 90
MOST_NAME = 200


def check_rules(kind: Kind, rules: Sequence[Rule]) -> None:
    """Raises ``Invalid``; the fields are ``rules`` and ``rules.0``, ``rules.1`` …"""
    faults: dict[str, list[str]] = {}
    for index, rule in enumerate(rules):
        found = _of_rule(kind, rule)
        if rule.name in [other.name for other in rules[:index]]:
            found.append(_("“%(name)s”: another rule has this name.") % {"name": rule.name})
        if found:
            faults[f"rules.{index}"] = found
    if not 1 <= len(rules) <= MOST_RULES:
        faults["rules"] = [_("%(count)s rules; 1 to %(most)s are allowed.") % {"count": len(rules), "most": MOST_RULES}]
    elif not rules[-1].is_catch_all:
        faults["rules"] = [_("The last rule may name no condition: what fits no other is decided by it.")]
    elif not rules[-1].steps:
        faults["rules"] = [_("The last rule needs a person to decide: what fits no other is never granted by itself.")]
    elif any(rule.is_catch_all for rule in rules[:-1]):
        faults["rules"] = [_("Only the last rule may be without a condition; those after it would never be used.")]
    if faults:
        raise Invalid(faults)


def _of_rule(kind: Kind, rule: Rule) -> list[str]:
    found = []
    if not 1 <= len(rule.name.strip()) <= MOST_NAME:
        found.append(_("A rule needs a name of up to %(most)s characters.") % {"most": MOST_NAME})
    bounds = {"gpus": rule.most_gpus, "share_percent": rule.most_share_percent, "days": rule.most_days}
    for name, most in bounds.items():
        if most is not None and name not in kind.measured_by:
            found.append(_("“%(kind)s” is not measured by %(name)s.") % {"kind": kind.label, "name": name})
        elif most is not None and not 0 <= most <= 10**9:
            found.append(_("%(value)s: a bound is 0 or more.") % {"value": most})
    if rule.tiers and "tier" not in kind.measured_by:
        found.append(_("“%(kind)s” has no tier.") % {"kind": kind.label})
    unknown = sorted(set(rule.tiers) - {"high", "mid", "low"})
    if unknown:
        found.append(_("“%(tier)s” is no tier; allowed: high, mid, low.") % {"tier": unknown[0][:40]})
    if len(rule.steps) > MOST_STEPS:
        found.append(_("%(count)s steps; at most %(most)s.") % {"count": len(rule.steps), "most": MOST_STEPS})
    return [*found, *(fault for step in rule.steps for fault in _of_step(step))]


def _of_step(step: StepRule) -> list[str]:
    found = []
    if not step.roles and not step.people:
        found.append(_("A step needs a role or somebody by name."))
    for role in (*step.roles, *step.escalate_to):
        if role not in DECIDING:
            found.append(_("“%(role)s” does not decide; allowed: admin, director.") % {"role": str(role)[:40]})
    if not 1 <= step.answer_hours <= MOST_HOURS:
        text = _("%(hours)s hours to answer; 1 to %(most)s are allowed.")
        found.append(text % {"hours": step.answer_hours, "most": MOST_HOURS})
    there = set(
        Person.objects.filter(pk__in=step.people, is_active=True, is_service=False).values_list("pk", flat=True)
    )
    for person in step.people:
        if person not in there:
            found.append(_("Person %(id)s is not there or not active.") % {"id": person})
    return found
