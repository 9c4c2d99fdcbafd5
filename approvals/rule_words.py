"""Rules as sentences: what each asks for, who decides, and in what two versions differ."""

from collections.abc import Mapping

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Person
from approvals.queue import ROLE_WORDS
from approvals.rules import Rule, Rules, StepRule
from kernel.formats import number
from kernel.looks import tier_look

People = Mapping[int, Person]


def rule_title(name: str) -> str:
    """A rule's name. Those that the portal came with are in the catalogue; others are shown as they were written."""
    return translation.gettext(name) if name else ""


def people_in(*versions: Rules) -> dict[int, Person]:
    """Everybody whom steps name. At most one statement."""
    ids = {pk for rules in versions for rule in rules for step in rule.steps for pk in step.people}
    return Person.objects.in_bulk(sorted(ids)) if ids else {}


def condition_words(rule: Rule) -> str:
    """``up to 8 GPUs and up to 30 days``; for the last one that it takes the rest."""
    found = []
    if rule.most_gpus is not None:
        text = ngettext("up to %(count)s more GPU", "up to %(count)s more GPUs", rule.most_gpus)
        found.append(text % {"count": number(rule.most_gpus)})
    if rule.most_share_percent is not None:
        found.append(_("up to %(share)s %% of the model") % {"share": share_words(rule.most_share_percent)})
    if rule.most_days is not None:
        text = ngettext("up to %(count)s day", "up to %(count)s days", rule.most_days)
        found.append(text % {"count": number(rule.most_days)})
    if rule.tiers:
        found.append(_("tier: %(tiers)s") % {"tiers": _(" or ").join(str(tier_look(tier)[1]) for tier in rule.tiers)})
    return ", ".join(found) or _("everything else")


def share_words(share: float) -> str:
    """Without decimals where there are none."""
    return number(share) if share == int(share) else number(share, 1)


def path_words(rule: Rule, people: People) -> str:
    """``admin (24 h), then director (48 h)``, or that it is granted at once."""
    if not rule.steps:
        return _("granted at once, by the portal")
    return _(", then ").join(step_words(step, people) for step in rule.steps)


def step_words(step: StepRule, people: People) -> str:
    """Who, within how long, and who may decide when nobody answers."""
    roles = [str(ROLE_WORDS.get(role, role)) for role in step.roles]
    named = [str(people.get(pk) or pk) for pk in step.people]
    who = _(" or ").join([*roles, *named])
    words = {"who": who, "hours": number(step.answer_hours)}
    if not step.escalate_to:
        return _("%(who)s within %(hours)s h") % words
    others = _(" or ").join(str(ROLE_WORDS.get(role, role)) for role in step.escalate_to)
    return _("%(who)s within %(hours)s h, later %(others)s too") % {**words, "others": others}


def difference(before: Rules, after: Rules, people: People) -> list[str]:
    """In what the later rules differ from the earlier ones: one sentence for each rule that came, went or changed."""
    old, new = {rule.name: rule for rule in before}, {rule.name: rule for rule in after}
    lines = [
        _("New rule “%(name)s”: %(what)s") % {"name": name, "what": rule_words(rule, people)}
        for name, rule in new.items()
        if name not in old
    ]
    lines += [
        _("Rule “%(name)s” is gone: %(what)s") % {"name": name, "what": rule_words(rule, people)}
        for name, rule in old.items()
        if name not in new
    ]
    lines += [
        _("Rule “%(name)s”: %(before)s → %(after)s")
        % {"name": name, "before": rule_words(old[name], people), "after": rule_words(rule, people)}
        for name, rule in new.items()
        if name in old and old[name] != rule
    ]
    kept_before, kept_after = [n for n in old if n in new], [n for n in new if n in old]
    if kept_before != kept_after:
        lines.append(_("The order is now: %(names)s") % {"names": ", ".join(new)})
    return lines


def rule_words(rule: Rule, people: People) -> str:
    return _("%(conditions)s – %(path)s") % {"conditions": condition_words(rule), "path": path_words(rule, people)}
