"""The fields of the form and of its rows: parsing only, and sentences that name the value.

What a value may be is judged once, by ``projects.facts``, for every door.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from inventory.models import GpuModel
from projects.facts import MAX_BREAKTHROUGH, MAX_GPUS, MAX_NAME, MAX_TEXT
from projects.models import DataClass, Kind, ProjectRole, ResearchArea, Stage

NONE_CHOSEN = ("", "–")
SHOWN = 60


class WholeNumber(forms.IntegerField):
    """Bounds are for the browser's picker; a value beyond them is refused with the others, in words."""

    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        widget = forms.NumberInput(attrs={"min": least, "max": most, "inputmode": "numeric"})
        super().__init__(widget=widget, **options)

    def to_python(self, value: Any) -> int | None:
        try:
            return super().to_python(value)
        except ValidationError as error:
            text = _("“%(value)s” is not a whole number.")
            raise ValidationError(text, code="invalid", params={"value": str(value)[:SHOWN]}) from error


class Day(forms.DateField):
    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **options)

    def to_python(self, value: Any) -> date | None:
        try:
            return super().to_python(value)
        except ValidationError as error:
            text = _("“%(value)s” is not a day; write it as 2031-05-31.")
            raise ValidationError(text, code="invalid", params={"value": str(value)[:SHOWN]}) from error


def area_choices() -> list[tuple[str, str]]:
    return [NONE_CHOSEN, *ResearchArea.objects.order_by("title").values_list("name", "title")]


def model_choices() -> list[tuple[str, str]]:
    return [NONE_CHOSEN, *GpuModel.objects.order_by("title").values_list("name", "title")]


class ProjectForm(forms.Form):
    """Nothing is required: a draft may lack anything."""

    use_required_attribute = False

    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=MAX_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_("As it stands in the table and in reports. It can be changed later."),
    )
    goal = forms.CharField(
        label=_("Goal"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("What will be known or possible afterwards, and how one will tell."),
    )
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=Kind.choices,
        help_text=_("Decides the defaults of elasticity, stability and rollback."),
    )
    stage = forms.ChoiceField(
        label=_("Stage"),
        required=False,
        choices=[NONE_CHOSEN, *Stage.choices],
        help_text=_("Where the work stands now. It may change at any time."),
    )
    area = forms.ChoiceField(label=_("Research area"), required=False, choices=area_choices)
    data_class = forms.ChoiceField(
        label=_("Data class"),
        choices=DataClass.choices,
        help_text=_("Limits the nodes on which its jobs may run."),
    )
    breakthrough = WholeNumber(
        label=_("Breakthrough potential"),
        required=False,
        least=0,
        most=MAX_BREAKTHROUGH,
        help_text=_("Your own estimate, 0 to 10. Reviewers score it anew."),
    )
    datasets = forms.CharField(
        label=_("Datasets"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Path or name, one a line."),
    )


class AnswerForm(forms.Form):
    """The answer to the question with which the registration was returned."""

    use_required_attribute = False

    answer = forms.CharField(
        label=_("Your answer"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("It is kept and shown to whoever decides. Change the form below as well where that is the answer."),
    )


class ComputeRow(forms.Form):
    """What is left empty beside a target: at least nothing, at most the target. ``models`` are asked for once."""

    gpu_model = forms.ChoiceField(label=_("GPU model"), error_messages={"required": _("Choose a GPU model.")})
    min = WholeNumber(label=_("At least"), required=False, least=0, most=MAX_GPUS)
    target = WholeNumber(
        label=_("Target"), least=0, most=MAX_GPUS, error_messages={"required": _("State the target, in whole GPUs.")}
    )
    max = WholeNumber(label=_("At most"), required=False, least=1, most=MAX_GPUS)

    def __init__(self, *args: Any, models: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["gpu_model"]
        if isinstance(field, forms.ChoiceField):
            field.choices = models

    def clean(self) -> dict[str, Any]:
        stated = self.cleaned_data
        if "min" in stated and stated["min"] is None:
            stated["min"] = 0
        if "max" in stated and stated["max"] is None:
            stated["max"] = stated.get("target")
        return stated


class MilestoneRow(forms.Form):
    id = forms.IntegerField(required=False, min_value=1, max_value=2**62, widget=forms.HiddenInput)
    name = forms.CharField(
        label=_("Milestone"), max_length=MAX_NAME, error_messages={"required": _("Name the milestone.")}
    )
    due_on = Day(label=_("Due on"), error_messages={"required": _("Say on which day it is due.")})
    met_on = Day(label=_("Met on"), required=False)


class TeamRow(forms.Form):
    """Somebody who is on the team from the start; whoever registers leads it anyway."""

    person = forms.CharField(
        label=_("Person"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "list": "people-found", "data-people": ""}),
        error_messages={"required": _("Name the person.")},
    )
    role = forms.ChoiceField(label=_("Role"), choices=ProjectRole.choices, initial=ProjectRole.RESEARCHER)
