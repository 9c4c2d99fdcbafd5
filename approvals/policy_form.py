"""Rules as rows of a form, and back. Rows are moved, added and removed by buttons that the server answers.

A path that the form has no words for stays what it was: its row names the rule of the version that was edited.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Person, Role
from approvals.forms import PEOPLE, person_named
from approvals.kinds import Kind
from approvals.policy_check import MOST_HOURS, MOST_NAME, MOST_RULES
from approvals.rule_words import path_words, people_in
from approvals.rules import Rule, Rules, StepRule
from kernel.looks import tier_look

ADMIN, DIRECTOR = Role.ADMIN.value, Role.DIRECTOR.value
AUTOMATIC, EITHER, IN_TURN, NAMED, KEPT = "automatic", "either", "admin_director", "people", "kept-"
PATHS: dict[str, str | Promise] = {
    AUTOMATIC: gettext_lazy("Nobody: granted at once"),
    ADMIN: gettext_lazy("An admin"),
    DIRECTOR: gettext_lazy("A director"),
    EITHER: gettext_lazy("An admin or a director"),
    IN_TURN: gettext_lazy("An admin, then a director"),
    NAMED: gettext_lazy("The people named"),
}
ROLES: dict[str, tuple[tuple[str, ...], ...]] = {
    ADMIN: ((ADMIN,),),
    DIRECTOR: ((DIRECTOR,),),
    EITHER: ((ADMIN, DIRECTOR),),
    IN_TURN: ((ADMIN,), (DIRECTOR,)),
}
ESCALATE: dict[str, str | Promise] = {
    "": gettext_lazy("Nobody else"),
    ADMIN: gettext_lazy("Admins"),
    DIRECTOR: gettext_lazy("Directors"),
    EITHER: gettext_lazy("Admins and directors"),
}
TIERS = ("high", "mid", "low")
USUAL_HOURS = 24
BOUNDS = {"most_gpus": "gpus", "most_share_percent": "share_percent", "most_days": "days", "tiers": "tier"}
"""Which measure each condition is held against."""


class RuleForm(forms.Form):
    """One rule. Conditions that the kind cannot measure are left out; the last rule has none."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=MOST_NAME)
    most_gpus = forms.IntegerField(label=gettext_lazy("Most GPUs more"), required=False, max_value=2**31 - 1)
    most_share_percent = forms.FloatField(
        label=gettext_lazy("Most share of the model, %"), required=False, min_value=0, max_value=100
    )
    most_days = forms.IntegerField(label=gettext_lazy("Most days"), required=False, min_value=1, max_value=36500)
    tiers = forms.MultipleChoiceField(
        label=gettext_lazy("Only these tiers"), required=False, widget=forms.CheckboxSelectMultiple
    )
    path = forms.ChoiceField(label=gettext_lazy("Who decides"))
    people = forms.CharField(
        label=gettext_lazy("People"),
        required=False,
        max_length=1000,
        widget=forms.TextInput(attrs=dict(PEOPLE)),
        help_text=gettext_lazy("User names with commas; only for “The people named”."),
    )
    hours_1 = forms.IntegerField(label=gettext_lazy("Answer within, hours"), min_value=1, max_value=MOST_HOURS)
    hours_2 = forms.IntegerField(label=gettext_lazy("The second within, hours"), min_value=1, max_value=MOST_HOURS)
    escalate_to = forms.ChoiceField(label=gettext_lazy("If nobody answers, also"), required=False)

    def __init__(self, *args: Any, kind: Kind, old: Rules, asker: Person, is_last: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self.kind, self.old, self.asker, self.is_last = kind, old, asker, is_last
        for field, measure in BOUNDS.items():
            if is_last or measure not in kind.measured_by:
                del self.fields[field]
        paths = [(key, str(word)) for key, word in PATHS.items() if not (is_last and key == AUTOMATIC)]
        self.fields["path"].choices = [*paths, *_kept_choices(old)]  # type: ignore[attr-defined]
        self.fields["escalate_to"].choices = [(k, str(w)) for k, w in ESCALATE.items()]  # type: ignore[attr-defined]
        if "tiers" in self.fields:
            self.fields["tiers"].choices = [(t, str(tier_look(t)[1])) for t in TIERS]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("path") == NAMED:
            try:
                data["people_ids"] = self._people(data.get("people", ""))
            except ValidationError as error:
                self.add_error("people", error)
        return data

    def _people(self, typed: str) -> tuple[int, ...]:
        asked = [name for name in typed.split(",") if name.strip()]
        if not asked:
            raise ValidationError(_("Name at least one person."))
        return tuple(dict.fromkeys(person_named(self.asker, name).pk for name in asked))

    @property
    def rule(self) -> Rule:
        """Of a valid form."""
        data = self.cleaned_data
        return Rule(
            name=data["name"].strip(),
            steps=self._steps(data),
            most_gpus=data.get("most_gpus"),
            most_share_percent=data.get("most_share_percent"),
            most_days=data.get("most_days"),
            tiers=tuple(data.get("tiers") or ()),
        )

    def _steps(self, data: Mapping[str, Any]) -> tuple[StepRule, ...]:
        path, others = data["path"], _escalated(data["escalate_to"])
        if path == AUTOMATIC:
            return ()
        if path.startswith(KEPT):
            return self.old[int(path.removeprefix(KEPT))].steps
        if path == NAMED:
            return (StepRule((), data["people_ids"], data["hours_1"], others),)
        hours = (data["hours_1"], data["hours_2"])
        return tuple(StepRule(roles, (), hours[at], _besides(others, roles)) for at, roles in enumerate(ROLES[path]))


class ReasonForm(forms.Form):
    """Why the rules change."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("It is kept with the rules and shown in their history."),
    )


class ReviewForm(forms.Form):
    """What was found when the rules were looked at."""

    note = forms.CharField(
        label=gettext_lazy("Note"), max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


Typed = dict[str, Any]
"""What stands in one row, as it was typed."""


def rows_of(rules: Rules, people: Mapping[int, Person]) -> list[Typed]:
    """The rows that show these rules."""
    return [_row(rule, index, people) for index, rule in enumerate(rules)]


def rows_typed(data: QueryDict) -> list[Typed]:
    """The rows of a form that was sent, whatever was typed in them."""
    count = data.get("rows", "")
    many = min(int(count), MOST_RULES + 1) if count.isascii() and count.isdigit() and len(count) < 4 else 0
    fields = RuleForm.base_fields
    return [
        {
            name: data.getlist(f"rule-{index}-{name}") if name == "tiers" else data.get(f"rule-{index}-{name}", "")
            for name in fields
        }
        for index in range(many)
    ]


def rearranged(rows: Sequence[Typed], act: str) -> list[Typed]:
    """After a button of a row: ``up-2``, ``down-2``, ``remove-2``, ``add``. The last row stays the last."""
    found, name, at = list(rows), *_split(act)
    last = len(found) - 1
    if name == "add":
        found.insert(max(last, 0), empty_row())
    elif name == "remove" and 0 <= at < last:
        del found[at]
    elif name == "up" and 0 < at < last:
        found[at - 1], found[at] = found[at], found[at - 1]
    elif name == "down" and 0 <= at < last - 1:
        found[at], found[at + 1] = found[at + 1], found[at]
    return found


def empty_row() -> Typed:
    return {
        "name": "",
        "path": ADMIN,
        "people": "",
        "hours_1": USUAL_HOURS,
        "hours_2": USUAL_HOURS,
        "escalate_to": "",
        "tiers": [],
    }


def _split(act: str) -> tuple[str, int]:
    name, _dash, number = act.partition("-")
    return name, int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1


def _row(rule: Rule, index: int, people: Mapping[int, Person]) -> Typed:
    path, others = _path(rule, index), _others(rule)
    hours = [step.answer_hours for step in rule.steps] or [USUAL_HOURS]
    named = [people[pk].username for step in rule.steps for pk in step.people if pk in people]
    return {
        "name": rule.name,
        "most_gpus": rule.most_gpus,
        "most_share_percent": rule.most_share_percent,
        "most_days": rule.most_days,
        "tiers": list(rule.tiers),
        "path": path,
        "people": ", ".join(named) if path == NAMED else "",
        "hours_1": hours[0],
        "hours_2": hours[1] if len(hours) > 1 else hours[0],
        "escalate_to": _escalation(others) or "",
    }


def _path(rule: Rule, index: int) -> str:
    """Which of the form's paths a rule has; ``kept-`` and its place where it has none of them."""
    if not rule.steps:
        return AUTOMATIC
    others = _others(rule)
    if _escalation(others) is None or any(step.escalate_to != _besides(others, step.roles) for step in rule.steps):
        return f"{KEPT}{index}"
    if len(rule.steps) == 1 and rule.steps[0].people and not rule.steps[0].roles:
        return NAMED
    asked = tuple(tuple(sorted(step.roles)) for step in rule.steps)
    if not any(step.people for step in rule.steps):
        for name, roles in ROLES.items():
            if roles == asked:
                return name
    return f"{KEPT}{index}"


def _kept_choices(old: Rules) -> list[tuple[str, str]]:
    """The paths of the version edited that the form has no words for."""
    odd = {index: rule for index, rule in enumerate(old) if _path(rule, index).startswith(KEPT)}
    people = people_in(old) if odd else {}
    return [
        (f"{KEPT}{index}", _("As it is: %(path)s") % {"path": path_words(rule, people)}) for index, rule in odd.items()
    ]


def _others(rule: Rule) -> tuple[str, ...]:
    """Everybody to whom some step escalates: the form has one choice for all steps."""
    return tuple(sorted({role for step in rule.steps for role in step.escalate_to}))


def _besides(others: tuple[str, ...], roles: tuple[str, ...]) -> tuple[str, ...]:
    """Who may decide a step too: those who may not already."""
    return tuple(role for role in others if role not in roles)


def _escalation(others: tuple[str, ...]) -> str | None:
    known: dict[tuple[str, ...], str] = {(): "", (ADMIN,): ADMIN, (DIRECTOR,): DIRECTOR, (ADMIN, DIRECTOR): EITHER}
    return known.get(tuple(sorted(others)))


def _escalated(chosen: str) -> tuple[str, ...]:
    return (ADMIN, DIRECTOR) if chosen == EITHER else (chosen,) if chosen else ()
