"""The page of parts: everything that screens are made of, live, each with the code one writes for it.

A part is a template in ``templates/portal/design/``; the page shows it and quotes it, so that there is one source.
Its figures are samples and say nothing about the organisation; no row is read.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel import looks, palette
from kernel.heat import Cell
from kernel.toasts import Act

FOLDER = "portal/design"
MODELS = (
    *("H200", "H100", "A100", "L40S", "H800", "A800", "H20", "B200", "B300", "GB200", "L20", "RTX 4090"),
    *("MI300X", "Ascend 910B", "V100", "T4"),
)


@dataclass(frozen=True)
class Part:
    """A part of the page: its template is ``_<key>.html``; `is_quoted` tells whether one copies it."""

    key: str
    title: str | Promise
    note: str | Promise
    is_quoted: bool = True

    @property
    def template(self) -> str:
        return f"{FOLDER}/_{self.key}.html"

    @property
    def code(self) -> str:
        """What one writes, as it stands in the file."""
        return _source(self.template) if self.is_quoted else ""


PARTS = (
    Part("colours", _("Colours"), _("Tokens of static/css/tokens.css; AA asks a contrast of 4.5."), is_quoted=False),
    Part("type", _("Type"), _("System fonts; figures are tabular wherever numbers stand under each other.")),
    Part("measures", _("Spacing"), _("A grid of 4 pixels, radius 6, hairlines, hardly any shadow."), is_quoted=False),
    Part("buttons", _("Buttons"), _("One primary action for each page; 32 high, 26 in rows.")),
    Part("states", _("States"), _("Each has an icon, a word and a tone (kernel/looks.py); never a colour alone.")),
    Part("tiers", _("Priority tiers"), _("Three weights of the accent, no traffic light.")),
    Part("models", _("GPU models"), _("Hues fixed by model; simulated is a word in a dashed outline.")),
    Part("bars", _("Used, guaranteed, limit"), _("Filled, tick, end; the pale part is over the guarantee.")),
    Part("sparks", _("Sparks and caps"), _("0 to 100 per cent over equal steps; a gap is hatched, never zero.")),
    Part("heat", _("Heat map"), _("Busy is calm and waste shines; a node is a column.")),
    Part("filters", _("Filters"), _("Chips write the address, so a view can be sent.")),
    Part("table", _("Table"), _("Sort by click, add by Shift-click; j k x Enter Esc. Selected rows bring a bar.")),
    Part("form", _("Form"), _("Label above, help under, the error under its field; the consequence beside it.")),
    Part("confirm", _("Asking once"), _("Says how many and whose before anything stops.")),
    Part("toasts", _("Toasts"), _("kernel/toasts.py: undoable() for the next page, announce() beside a part.")),
    Part("notices", _("Notices"), _("They stay where what they speak of stands.")),
    Part("nothing", _("Empty and loading"), _("What will be here and the first action; lines after 150 ms.")),
    Part("steps", _("Steps and routes"), _("What is done, what happens now, what is ahead.")),
    Part("tabs", _("Tabs and spans"), _("Sub-pages under the head; a span of time beside a chart.")),
    Part("pairs", _("Facts"), _("Pairs, figures and happenings; times are relative, exact on hover.")),
    Part("decision", _("Decision page"), _("Asked, effect, precedent; the buttons stay in sight.")),
    Part("chart", _("Chart"), _("One series has the hue of its model; no data is hatched.")),
    Part("log", _("Log"), _("Follows its job; scrolling up lets go of the end.")),
    Part("live", _("Live mark"), _("When a part that refreshes itself was last right.")),
    Part("keys", _("Keys"), _("Everything works from the keyboard.")),
)


class SampleForm(forms.Form):
    """A field of every kind and state."""

    name = forms.CharField(label=_("Name"), help_text=_("Who decides reads this first."))
    gpus = forms.IntegerField(label=_("The least that would still help"))
    stage = forms.ChoiceField(label=_("Stage"), choices=[("training", _("Training")), ("evaluation", _("Evaluation"))])
    window = forms.ChoiceField(
        label=_("How long"),
        choices=[("time", _("For a time")), ("round", _("Until the next round decides"))],
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(label=_("Reason"), required=False, widget=forms.Textarea(attrs={"rows": 3}))
    kept = forms.CharField(label=_("Project"), disabled=True, initial="蛋白质折叠路径")
    notify = forms.BooleanField(label=_("Tell me when it is decided"), required=False)

    def clean_gpus(self) -> int:
        given = int(self.cleaned_data["gpus"])
        if given % 8:
            text = _("%(given)s is not a whole number of nodes. Use %(less)s or %(more)s.")
            raise forms.ValidationError(text % {"given": given, "less": given // 8 * 8, "more": given // 8 * 8 + 8})
        return given


@require_GET
def design(request: HttpRequest) -> HttpResponse:
    """The page at ``/design``."""
    require_signed_in(request.user)
    return render(request, "portal/design.html", {"parts": PARTS, **_colours(), **_samples()})


@cache
def _source(template: str) -> str:
    origin = getattr(get_template(template), "origin", None)
    return Path(str(origin)).read_text(encoding="utf-8").rstrip("\n")


def _colours() -> dict[str, Any]:
    css = palette.style_sheet()
    return {"colours": list(palette.colours(css).values()), "readings": palette.readings(css)}


def _samples() -> dict[str, Any]:
    form = SampleForm({"name": "Binding set, second run", "gpus": "28", "stage": "training", "window": "time"})
    return {
        "steps_of_space": (4, 8, 12, 16, 20, 24, 28, 32, 36, 48),
        "states": looks.known_states(),
        "boxed": ("running", "queued", "failed", "preempted", "closed", "unknown"),
        "models": MODELS,
        "bars": _bars(),
        "sparks": _sparks(),
        "nodes": _nodes(),
        "rows": _rows(),
        "form": form,
        "toasts": _toasts(),
        "steps": _steps(),
        "tabs": [
            {"url": "#tabs", "label": _("Overview"), "count": None, "is_current": True},
            {"url": "#jobs", "label": _("Jobs"), "count": 9, "is_current": False},
        ],
        "pairs": [(_("Guaranteed"), "64"), (_("Then"), "128"), (_("Tier"), _("High tier"))],
        "when": datetime(2026, 6, 9, 6, 20, 6, tzinfo=UTC),
        "log": "14:30:48  step 85960  loss 1.8402\n14:30:55  step 85970  loss 1.8410\n",
    }


def _bars() -> list[dict[str, Any]]:
    cases = (
        (_("Nothing used"), 0, 64, 128),
        (_("Under the guarantee"), 48, 64, 128),
        (_("At the guarantee"), 64, 64, 128),
        (_("Over the guarantee"), 96, 64, 128),
        (_("At the limit"), 128, 64, 128),
        (_("Over a limit that was lowered"), 144, 64, 128),
        (_("No guarantee"), 24, 0, 96),
        (_("No limit"), 72, 64, None),
        (_("Not allotted"), 0, 0, 0),
    )
    return [{"label": label, "used": used, "guaranteed": sure, "limit": limit} for label, used, sure, limit in cases]


def _sparks() -> list[tuple[str | Promise, list[float | None]]]:
    return [
        (_("Steady"), [88, 90, 87, 91, 89, 90, 88, 92, 90, 89, 91, 88, 90, 89]),
        (_("With a gap"), [70, 72, 68, None, None, 74, 71, 69, 73, 70, None, 72, 71, 70]),
        (_("One sample"), [None, None, None, 80, None, None]),
        (_("Idle"), [0.0] * 14),
        (_("Nothing measured"), [None] * 14),
    ]


def _nodes() -> list[tuple[str, list[Cell]]]:
    used = [Cell("used", value) for value in (5, 20, 40, 60, 80, 95, 99, None)]
    return [
        ("h100-001", used),
        ("h100-002", [Cell("free")] * 4 + [Cell("used", 97)] * 4),
        ("h100-003", [Cell("draining")] * 8),
        ("h100-004", [Cell("down")] * 2 + [Cell("no_data")] * 6),
    ]


def _rows() -> list[dict[str, Any]]:
    spark = [88, 90, 87, 91, 89, 90, 88, 92]
    return [
        {"name": "Molecular dynamics model", "tier": "high", "h100": 64, "used": 192, "guaranteed": 192, "limit": 320}
        | {"utilisation": spark, "state": "active", "milestone": _("1 d late"), "is_late": True},
        {"name": "蛋白质折叠路径", "tier": "mid", "h100": 128, "used": 56, "guaranteed": 48, "limit": 88}
        | {"utilisation": [60, 62, None, None, 66, 64, 61, 65], "state": "active", "milestone": _("in 31 d")},
        {"name": "Solvent screening", "tier": "low", "h100": 0, "used": 3, "guaranteed": 0, "limit": 72}
        | {"utilisation": [None] * 8, "state": "suspended", "milestone": "–"},
    ]


def _toasts() -> list[dict[str, Any]]:
    undo = Act(str(_("Undo")), "/design")
    see = Act(str(_("Load again")), "/design", is_link=True)
    return [
        {"kind": "success", "text": _("The tier of 3 projects was set to mid."), "act": undo},
        {"kind": "info", "text": _("There is nothing to decide: the project is active."), "act": None},
        {"kind": "error", "text": _("It has changed since you loaded it. Nothing was saved."), "act": see},
    ]


def _steps() -> list[dict[str, Any]]:
    return [
        {"label": _("Waited"), "detail": "26 m", "state": "done"},
        {"label": _("Started"), "detail": "4 m", "state": "done"},
        {"label": _("Training"), "detail": "9 h 14 m", "state": "current"},
        {"label": _("Finishing"), "detail": "", "state": "ahead"},
    ]
