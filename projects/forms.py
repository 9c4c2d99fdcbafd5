"""The registration form: parsing only. What the service refuses is put on the fields afterwards."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.formsets import BaseFormSet, formset_factory
from django.utils.translation import gettext_lazy as _

from inventory.models import GpuModel
from kernel.errors import Invalid
from kernel.forms import add_errors
from projects.facts import CLASSIFYING, MAX_GPUS, MAX_NAME, MAX_ROWS, MAX_TEXT, ComputeAsked, Facts, MilestoneAsked
from projects.models import DataClass, Kind, ProjectRole, ResearchArea, Stage, Tier
from projects.selectors import ProjectDetail
from projects.states import ProjectState

NONE_CHOSEN = ("", "–")
NEEDED = {"name", "goal", "stage", "breakthrough"}
"""Fields without which a draft cannot be submitted."""


def area_choices() -> list[tuple[str, str]]:
    return [NONE_CHOSEN, *ResearchArea.objects.order_by("title").values_list("name", "title")]


def model_choices() -> list[tuple[str, str]]:
    return [NONE_CHOSEN, *GpuModel.objects.order_by("title").values_list("name", "title")]


class ProjectForm(forms.Form):
    """Nothing is required: a draft may lack anything."""

    use_required_attribute = False

    name = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME)
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
    stage = forms.ChoiceField(label=_("Stage"), required=False, choices=[NONE_CHOSEN, *Stage.choices])
    area = forms.ChoiceField(label=_("Research area"), required=False, choices=area_choices)
    data_class = forms.ChoiceField(
        label=_("Data class"),
        choices=DataClass.choices,
        help_text=_("Limits the nodes on which its jobs may run."),
    )
    breakthrough = forms.IntegerField(
        label=_("Breakthrough potential"),
        required=False,
        min_value=0,
        max_value=10,
        help_text=_("Your own estimate, 0 to 10. Reviewers score it anew."),
    )
    datasets = forms.CharField(
        label=_("Datasets"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Path or name, one a line."),
    )


class ComputeRow(forms.Form):
    gpu_model = forms.ChoiceField(label=_("GPU model"), choices=model_choices)
    min = forms.IntegerField(label=_("At least"), min_value=0, max_value=MAX_GPUS, initial=0)
    target = forms.IntegerField(label=_("Target"), min_value=0, max_value=MAX_GPUS)
    max = forms.IntegerField(label=_("At most"), min_value=1, max_value=MAX_GPUS)


class MilestoneRow(forms.Form):
    id = forms.IntegerField(required=False, min_value=1, max_value=2**62, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Milestone"), max_length=MAX_NAME)
    due_on = forms.DateField(label=_("Due on"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    met_on = forms.DateField(
        label=_("Met on"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


def _rows(form: type[forms.Form], extra: int) -> "type[BaseFormSet[Any]]":
    return formset_factory(form, extra=extra, can_delete=True, max_num=MAX_ROWS, validate_max=True)


class ProjectForms:
    """The form and its two sets of rows, bound to what was sent or filled from a project."""

    def __init__(self, data: Mapping[str, Any] | None = None, detail: ProjectDetail | None = None) -> None:
        first = initial_of(detail)
        self.form = ProjectForm(data, initial=first["form"])
        extra = 1 if detail is None or not first["compute"] else 0
        self.compute = _rows(ComputeRow, extra)(data, initial=first["compute"], prefix="compute")
        self.milestones = _rows(MilestoneRow, 1 if extra else 0)(data, initial=first["milestones"], prefix="milestones")
        if detail is not None:
            self._fix(detail)

    def _fix(self, detail: ProjectDetail) -> None:
        """Fields that this person may not change now are shown and not read."""
        may_edit, may_classify = "edit" in detail.can, "reclassify" in detail.can
        is_draft = detail.project.state == ProjectState.DRAFT
        for name, field in self.form.fields.items():
            is_open = (may_edit and is_draft) or (may_classify if name in CLASSIFYING else may_edit)
            field.disabled = not is_open

    def is_valid(self) -> bool:
        parts = [self.form.is_valid(), self.compute.is_valid(), self.milestones.is_valid()]
        return all(parts)

    def facts(self, *, has_rows: bool = True) -> Facts:
        """What was stated; without the rows where only an admin's fields may change."""
        facts: Any = dict(self.form.cleaned_data)
        facts["datasets"] = facts["datasets"].splitlines()
        facts["area"] = facts["area"] or None
        if has_rows:
            facts["expected_compute"] = [
                ComputeAsked(row["gpu_model"], row["min"], row["target"], row["max"])
                for row in (form.cleaned_data for form in _kept(self.compute))
            ]
            facts["milestones"] = [
                MilestoneAsked(row["name"], row["due_on"], row["met_on"], row["id"])
                for row in (form.cleaned_data for form in _kept(self.milestones))
            ]
        result: Facts = facts
        return result

    def add_errors(self, refusal: Invalid) -> None:
        """Put each sentence of the service on its field or row."""
        rows = {"expected_compute": _kept(self.compute), "milestones": _kept(self.milestones)}
        rest: dict[str, list[str]] = {}
        for key, texts in refusal.errors.items():
            part, _dot, place = key.partition(".")
            index, _dot, field = place.partition(".")
            if part in rows and index.isdigit() and int(index) < len(rows[part]):
                form = rows[part][int(index)]
                for text in texts:
                    form.add_error(field if field in form.fields else None, text)
            else:
                rest[key] = texts
        if rest:
            add_errors(self.form, Invalid(rest))

    def add_error(self, text: str) -> None:
        self.form.add_error(None, text)

    def mark_needed(self) -> None:
        """For showing, after parsing: what a submission needs does not say "optional"."""
        for name in NEEDED & self.form.fields.keys():
            self.form.fields[name].required = True

    def has_errors(self) -> bool:
        """Whether anything stands to be corrected: above the fields, on one, or in a row."""
        sets = (self.compute, self.milestones)
        in_rows = any(any(rows.errors) or rows.non_form_errors() for rows in sets if rows.is_bound)
        return bool(self.form.errors.get(NON_FIELD_ERRORS) or self.form.errors or in_rows)


def _kept(rows: "BaseFormSet[Any]") -> list[forms.Form]:
    """The rows that were filled in and not removed."""
    return [form for form in rows.forms if form not in rows.deleted_forms and (form.has_changed() or _is_old(form))]


def _is_old(form: forms.Form) -> bool:
    """A row that was there before, changed or not."""
    return not form.empty_permitted


def initial_of(detail: ProjectDetail | None) -> dict[str, Any]:
    if detail is None:
        return {"form": {"data_class": DataClass.INTERNAL, "kind": Kind.RESEARCH}, "compute": [], "milestones": []}
    project = detail.project
    return {
        "form": {
            **{field: getattr(project, field) for field in ("name", "goal", "kind", "stage", "data_class")},
            "area": project.area.name if project.area else "",
            "breakthrough": project.breakthrough,
            "datasets": "\n".join(project.datasets),
        },
        "compute": [
            {"gpu_model": row.gpu_model.name, "min": row.min, "target": row.target, "max": row.max}
            for row in detail.expected_compute
        ],
        "milestones": [
            {"id": row.id, "name": row.name, "due_on": row.due_on, "met_on": row.met_on} for row in detail.milestones
        ],
    }


class MemberForm(forms.Form):
    person = forms.CharField(label=_("User name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=ProjectRole.choices, initial=ProjectRole.RESEARCHER)


class ReasonForm(forms.Form):
    """The service says when the reason may not be missing."""

    reason = forms.CharField(
        label=_("Reason"), required=False, max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 3})
    )


class NeededReasonForm(ReasonForm):
    """For steps that are not taken without one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = True


class TierForm(NeededReasonForm):
    tier = forms.ChoiceField(label=_("Tier"), choices=Tier.choices)
    field_order = ("tier", "reason")


class AreaForm(forms.Form):
    name = forms.CharField(label=_("Key"), max_length=60)
    title = forms.CharField(label=_("Title"), max_length=200)


class MilestoneDayForm(forms.Form):
    """A day for a milestone: when it was met, or when it is due now."""

    day = forms.DateField(label=_("Day"), widget=forms.DateInput(attrs={"type": "date"}))
