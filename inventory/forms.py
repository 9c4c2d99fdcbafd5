"""Forms of the machines: parsing only. What the service refuses is put on the fields afterwards."""

from django import forms
from django.utils.translation import gettext_lazy as _

from inventory.models import Pool, Source
from inventory.services.pools import MOST_SUITABILITY

MOST_SECONDS = 2**31 - 1


class EnrolForm(forms.Form):
    node_name = forms.CharField(
        label=_("Node name"), max_length=100, help_text=_("Letters, digits, dots, dashes and underscores.")
    )
    pool = forms.ModelChoiceField(label=_("Pool"), queryset=Pool.objects.order_by("name"))
    source = forms.ChoiceField(
        label=_("Source"), choices=Source.choices, help_text=_("GPUs of a spot node never back guarantees.")
    )
    hours = forms.IntegerField(
        label=_("Good for"), min_value=1, max_value=720, initial=24, help_text=_("Hours until the token expires.")
    )


class PriceForm(forms.Form):
    per_gpu_hour = forms.DecimalField(label=_("Price per GPU-hour"), max_digits=12, decimal_places=4, min_value=0)
    currency = forms.CharField(label=_("Currency"), max_length=3, initial="USD")
    first = forms.TimeField(
        label=_("From"), initial="00:00", widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )
    last = forms.TimeField(
        label=_("Until"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text=_("Time of the organisation's day; empty: midnight."),
    )


class PoolForm(forms.Form):
    """A pool's policy."""

    title = forms.CharField(label=_("Title"), max_length=100)
    purpose = forms.CharField(label=_("Purpose"), max_length=200, required=False)
    grace_s = forms.IntegerField(
        label=_("Grace time"),
        min_value=0,
        max_value=MOST_SECONDS,
        initial=300,
        help_text=_("Seconds between the signal and the kill of a stopped job."),
    )
    max_runtime_bound_s = forms.IntegerField(
        label=_("Longest max runtime"),
        min_value=1,
        max_value=MOST_SECONDS,
        required=False,
        help_text=_("Seconds; a job that asks for more is refused here. Empty: no bound."),
    )
    lost_after_s = forms.IntegerField(
        label=_("Down after"),
        min_value=10,
        max_value=MOST_SECONDS,
        initial=60,
        help_text=_("Seconds of silence after which a node counts as down."),
    )


class NewPoolForm(PoolForm):
    field_order = ["name", "title"]
    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("Small letters, digits and dashes."))


class GpuModelForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=100)
    suitability = forms.DecimalField(
        label=_("Suitability"),
        min_value=0,
        max_value=MOST_SUITABILITY,
        max_digits=6,
        decimal_places=3,
        help_text=_(
            "How fast one GPU is for a project that measured nothing, an H100 being 1. 0: not rated, and no review "
            "gives any of it to such a project."
        ),
    )
    interconnect = forms.CharField(label=_("Interconnect"), max_length=40, required=False)
