"""What a lead states about the speed on one GPU model. Parsing only: the service judges."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from inventory.models import GpuModel
from projects.services.acts import MAX_REASON
from projects.services.measurements import MAX_JOB, MAX_UNIT, Stated


class MeasurementForm(forms.Form):
    gpu_model = forms.ChoiceField(label=_("GPU model"))
    cannot_use = forms.BooleanField(label=_("The project cannot use this model at all"), required=False)
    throughput = forms.DecimalField(
        label=_("Throughput of one GPU"),
        required=False,
        max_digits=18,
        decimal_places=6,
        help_text=_("What one GPU does in the project's own work."),
    )
    unit = forms.CharField(
        label=_("Unit"),
        required=False,
        max_length=MAX_UNIT,
        help_text=_("Such as tokens/s or samples/s; the same for all models of the project."),
    )
    evidence = forms.CharField(
        label=_("Evidence"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("A link or a few words: batch size, precision, how long. Or why the model cannot be used."),
    )
    job = forms.CharField(label=_("Job"), required=False, max_length=MAX_JOB, help_text=_("Its id, if it ran here."))

    def __init__(self, data: Any = None, *, unit: str = "") -> None:
        super().__init__(data, initial={"unit": unit})
        choices = [("", _("Choose a model")), *GpuModel.objects.order_by("title").values_list("name", "title")]
        self.fields["gpu_model"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("cannot_use") and given.get("throughput") is not None:
            self.add_error("throughput", _("Give no number for a model that the project cannot use."))
        elif not given.get("cannot_use") and given.get("throughput") is None and "throughput" not in self.errors:
            self.add_error("throughput", _("Give a number over 0, or say that the project cannot use the model."))
        return given

    def stated(self) -> Stated:
        """Valid input as the service takes it."""
        given = self.cleaned_data
        return Stated(given["gpu_model"], given["throughput"], given["unit"], given["evidence"], given["job"])
