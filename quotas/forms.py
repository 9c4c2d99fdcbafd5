"""Forms of the ledger: parsing only. What the service refuses is put on the fields afterwards."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from inventory.models import GpuModel, Pool
from kernel.forms import InstantField
from projects.models import Project, ResearchArea
from projects.states import ProjectState
from quotas.models import Resource
from quotas.services import AccessSpec, GrantSpec

GIB = 2**30
IN_GIB = frozenset({Resource.MEMORY, Resource.STORAGE})


class AtForm(forms.Form):
    at = InstantField(label=_("Who had how much at"), required=False)


class GrantForm(forms.Form):
    project = forms.ModelChoiceField(
        label=_("Project"), queryset=Project.objects.filter(state=ProjectState.ACTIVE).order_by("name")
    )
    resource = forms.ChoiceField(label=_("Resource"), choices=Resource.choices, initial=Resource.GPU)
    gpu_model = forms.ModelChoiceField(
        label=_("GPU model"), queryset=GpuModel.objects.order_by("name"), required=False, help_text=_("For GPUs only.")
    )
    guaranteed = forms.IntegerField(
        label=_("Guaranteed"), min_value=0, help_text=_("Whole GPUs or cores; memory and storage in GiB.")
    )
    limit = forms.IntegerField(label=_("Limit"), min_value=0, required=False, help_text=_("Empty: no limit."))
    effective_from = InstantField(label=_("From"), required=False, help_text=_("Empty: now."))
    effective_to = InstantField(label=_("Until"), required=False, help_text=_("Empty: until further notice."))
    reason = forms.CharField(label=_("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))

    def spec(self) -> GrantSpec:
        """What the valid form asks for, in the resource's own unit."""
        given = self.cleaned_data
        unit = GIB if given["resource"] in IN_GIB else 1
        model: GpuModel | None = given["gpu_model"]
        return GrantSpec(
            project_id=given["project"].pk,
            guaranteed=given["guaranteed"] * unit,
            limit=None if given["limit"] is None else given["limit"] * unit,
            resource=given["resource"],
            gpu_model_id=model.pk if model else None,
            effective_from=given["effective_from"],
            effective_to=given["effective_to"],
            reason=given["reason"],
        )


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=2000, required=False)


class ReserveForm(forms.Form):
    per_cent = forms.DecimalField(
        label=_("Emergency reserve"),
        min_value=0,
        max_value=100,
        decimal_places=2,
        help_text=_("Per cent of the capacity, rounded up to whole GPUs. Usually 5 to 10."),
    )
    effective_from = InstantField(label=_("From"), required=False, help_text=_("Empty: now."))
    reason = forms.CharField(label=_("Reason"), max_length=2000)


class CapacityForm(forms.Form):
    gpu_model = forms.ModelChoiceField(label=_("GPU model"), queryset=GpuModel.objects.none())
    gpus = forms.IntegerField(
        label=_("GPUs that count"), min_value=0, help_text=_("0: none counts as capacity any more.")
    )
    effective_from = InstantField(label=_("From"), required=False, help_text=_("Empty: now."))
    reason = forms.CharField(label=_("Reason"), max_length=2000)

    def __init__(self, *args: Any, models: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["gpu_model"] = forms.ModelChoiceField(label=_("GPU model"), queryset=models)


class MoveForm(forms.Form):
    pool = forms.ModelChoiceField(label=_("Pool"), queryset=Pool.objects.order_by("name"))
    reason = forms.CharField(label=_("Reason"), max_length=2000, required=False)


class AccessForm(forms.Form):
    project = forms.ModelChoiceField(
        label=_("Project"), queryset=Project.objects.filter(state=ProjectState.ACTIVE).order_by("name"), required=False
    )
    area = forms.ModelChoiceField(
        label=_("Research area"),
        queryset=ResearchArea.objects.order_by("title"),
        required=False,
        help_text=_("Instead of one project: all of an area and of the areas below it."),
    )
    effective_from = InstantField(label=_("From"), required=False, help_text=_("Empty: now."))
    effective_to = InstantField(label=_("Until"), required=False, help_text=_("Empty: until further notice."))
    reason = forms.CharField(label=_("Reason"), max_length=2000, required=False)

    def spec(self, pool_id: int) -> AccessSpec:
        """What the valid form asks for."""
        given = self.cleaned_data
        project: Project | None = given["project"]
        area: ResearchArea | None = given["area"]
        return AccessSpec(
            pool_id=pool_id,
            project_id=project.pk if project else None,
            area_id=area.pk if area else None,
            effective_from=given["effective_from"],
            effective_to=given["effective_to"],
            reason=given["reason"],
        )
