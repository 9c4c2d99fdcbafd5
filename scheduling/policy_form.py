"""The form of the scheduling policy: each choice in the unit in which people think of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from scheduling.policy import BOUNDS, DAY, HOUR, MINUTE, Choices

UNIT_WORDS = {1: _("s"), MINUTE: _("minutes"), HOUR: _("hours"), DAY: _("days")}
PLAIN = 0
"""The unit of what is counted or a per cent."""
DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """One choice: its name in ``Choices``, its unit in seconds (0: none), its words."""

    name: str
    unit: int
    label: str | Promise
    help_text: str | Promise = ""
    suffix: str | Promise = ""

    @property
    def unit_word(self) -> str:
        return str(self.suffix or UNIT_WORDS.get(self.unit, ""))


INTERRUPTION = (
    Asked(
        "min_runtime_s",
        MINUTE,
        _("Minimum run time"),
        _(
            "How long a job runs before it may have to give way; never less than its own checkpoint interval, of which "
            "two hours count at most."
        ),
    ),
    Asked(
        "interruptions_per_day",
        PLAIN,
        _("Interruptions per job and day"),
        _("From then on the minimum run time doubles with each further one."),
    ),
    Asked(
        "earmark_margin_s",
        MINUTE,
        _("Margin of earmarks"),
        _("GPUs freed for a job are kept for it for twice the grace time, which is each pool's, and this."),
    ),
    Asked(
        "member_lost_after_s",
        1,
        _("Patience with a broken gang"),
        _("A job that has lost one of its nodes is stopped after this, and goes back to its old place in the queue."),
    ),
)
WAITING = (
    Asked(
        "starvation_after_s",
        MINUTE,
        _("Planned start after"),
        _("Later jobs then start only if they do not delay it. It needs jobs that have a max runtime."),
    ),
    Asked(
        "planned_starts",
        PLAIN,
        _("Planned starts at once, per GPU model"),
        _("More of them keep more GPUs idle for large jobs."),
    ),
)
SHARES = (
    Asked(
        "usage_sensitivity_pct",
        PLAIN,
        _("Weight of past use"),
        _("How strongly the share of idle GPUs moves from who used much to who used little; 0: not at all."),
        "%",
    ),
    Asked(
        "half_life_s",
        DAY,
        _("Half-life of past use"),
        _("A GPU-hour of so long ago counts half. What was lost to interruptions does not count."),
    ),
)
TIERS = tuple(
    Asked(f"{tier}_{what}", PLAIN, label)
    for tier, words in (
        ("high", (_("High tier: weight"), _("High tier: rank"))),
        ("mid", (_("Mid tier: weight"), _("Mid tier: rank"))),
        ("low", (_("Low tier and none: weight"), _("Low tier and none: rank"))),
    )
    for what, label in zip(("weight", "rank"), words, strict=True)
)
GROUPS = (
    (_("Giving way"), INTERRUPTION),
    (_("Waiting"), WAITING),
    (_("Shares of what the guarantees leave"), SHARES),
    (_("Tiers"), TIERS),
)
ALL = tuple(asked for _title, group in GROUPS for asked in group)


class PolicyForm(forms.Form):
    """``version``: the policy that was seen; ``confirmed``: the question was answered."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    confirmed = forms.BooleanField(widget=forms.HiddenInput, required=False)
    reason = forms.CharField(
        max_length=1000,
        label=_("Reason"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept with the change: who asks later why jobs started otherwise reads it."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for asked in ALL:
            self.fields[asked.name] = _field(asked)

    def choices(self) -> Choices:
        """What was asked for. The form is valid."""
        return Choices(**{asked.name: round(self.cleaned_data[asked.name] * (asked.unit or 1)) for asked in ALL})

    def as_hidden(self) -> "PolicyForm":
        """The same, to be sent again by whoever answers the question."""
        data = {name: self[name].value() for name in self.fields} | {"confirmed": "on"}
        form = PolicyForm(data)
        for field in form.fields.values():
            field.widget = forms.HiddenInput()
        return form


def initial_of(choices: Choices, version: int) -> dict[str, Any]:
    """The form's values that stand for these choices."""
    return {"version": version, **{asked.name: shown(asked, choices.plain()) for asked in ALL}}


def shown(asked: Asked, values: Mapping[str, int]) -> str:
    """A choice in the form's unit, as exact as the form takes it."""
    return f"{round(values[asked.name] / (asked.unit or 1), DECIMALS):.8g}"


def _field(asked: Asked) -> forms.Field:
    least, most = BOUNDS[asked.name]
    words: dict[str, Any] = {"label": asked.label, "help_text": asked.help_text}
    if not asked.unit:
        return forms.IntegerField(min_value=least, max_value=most, **words)
    lowest = (Decimal(least) / asked.unit).quantize(Decimal(1).scaleb(-DECIMALS), ROUND_UP)
    words |= {"min_value": lowest.normalize(), "max_value": Decimal(most) / asked.unit}
    # The browser counts its steps from the least value, which is no round number in days.
    return forms.DecimalField(decimal_places=DECIMALS, widget=forms.NumberInput(attrs={"step": "any"}), **words)
