"""What is typed on the form: parsing only, in words that name the value. What may be asked the room's domain judges."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.registration.fields import Day, WholeNumber
from quotas.requests.checks import MOST_GPUS, MOST_REASON

FOR_A_TIME, UNTIL_REVIEW = "time", "review"
NEEDED = ("from_on", "to_on", "reason", "answer")
FIELD_OF = {
    "gpu_model": "gpu_model",
    "guaranteed": "guaranteed_more",
    "limit": "limit_more",
    "least": "least_more",
    "starts_at": "from_on",
    "ends_at": "to_on",
    "reason": "reason",
    "answer": "answer",
}
"""Which field shows what the domain says about a part of the request."""


class RequestForm(forms.Form):
    """Nothing is required: a draft may lack anything, and what a submission lacks the domain says."""

    use_required_attribute = False

    gpu_model = forms.IntegerField(
        label=_("GPU model"), required=False, min_value=1, max_value=2**62, widget=forms.RadioSelect
    )
    guaranteed_more = WholeNumber(label=_("Guaranteed, more"), required=False, least=-MOST_GPUS, most=MOST_GPUS)
    limit_more = WholeNumber(label=_("Limit, more"), required=False, least=-MOST_GPUS, most=MOST_GPUS)
    no_limit = forms.BooleanField(label=_("No limit"), required=False)
    length = forms.ChoiceField(
        label=_("How long"),
        required=False,
        choices=[(FOR_A_TIME, _("For a time")), (UNTIL_REVIEW, _("Until the next review decides"))],
        widget=forms.RadioSelect,
        initial=FOR_A_TIME,
    )
    from_on = Day(label=_("From"), required=False)
    to_on = Day(label=_("To, that day included"), required=False)
    least_more = WholeNumber(label=_("The least that would still help"), required=False, least=0, most=MOST_GPUS)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "maxlength": MOST_REASON}),
        help_text=_("Whoever decides reads this first. Link the jobs or results that show the need."),
    )
    answer = forms.CharField(
        label=_("Your answer"), required=False, strip=True, widget=forms.Textarea(attrs={"rows": 3})
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if self.is_for_a_time and "to_on" not in self.errors and "from_on" not in self.errors:
            first, last = given.get("from_on"), given.get("to_on")
            if first and last and last < first:
                text = _("%(last)s is before the first day, %(first)s.")
                self.add_error("to_on", text % {"last": last.isoformat(), "first": first.isoformat()})
        return given

    @property
    def is_for_a_time(self) -> bool:
        """Until it says otherwise; whatever else is sent is for a time, too."""
        value = self["length"].value() if self.is_bound else self.initial.get("length")
        return bool(value != UNTIL_REVIEW)

    def mark_needed(self) -> None:
        """What a submission needs is not called optional; called once the form was judged."""
        for name in NEEDED:
            self.fields[name].required = True

    def value_of(self, name: str) -> Any:
        """What could be read of a field; None where nothing could."""
        return self.cleaned_data.get(name) if self.is_bound and name not in self.errors else None

    @property
    def fault_count(self) -> int:
        return sum(1 for name in self.errors if name != "__all__")
