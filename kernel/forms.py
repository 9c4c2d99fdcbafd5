"""Between a service's refusal and the form on a page, and fields that several rooms have."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms import BaseForm
from django.utils.translation import gettext_lazy as _

from kernel.calendar import FIRST_DAY, LAST_DAY, organisation_zone
from kernel.errors import Invalid

PICKER = "%Y-%m-%dT%H:%M"


def add_errors(form: BaseForm, invalid: Invalid) -> None:
    """Put each sentence on its field; what no field of this form is called goes above all fields.

    A nested name (``milestones.0.due_on``) goes to the field of its first part. The form must have been bound.
    """
    for name, sentences in invalid.errors.items():
        first = name.split(".", 1)[0]
        field = name if name in form.fields else first if first in form.fields else NON_FIELD_ERRORS
        for sentence in sentences:
            form.add_error(None if field == NON_FIELD_ERRORS else field, sentence)


class InstantField(forms.DateTimeField):
    """Date and time as the organisation's clocks show them.

    A time that they skip is refused; one that they show twice is the first.
    """

    def __init__(self, **options: Any) -> None:
        picker = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=PICKER)
        super().__init__(widget=picker, input_formats=[PICKER, "%Y-%m-%dT%H:%M:%S"], **options)

    def to_python(self, value: Any) -> datetime | None:
        naive = super().to_python(value)
        if naive is None:
            return None
        zone = organisation_zone()
        local = naive.replace(tzinfo=zone)
        if not FIRST_DAY <= local.date() <= LAST_DAY:
            raise ValidationError(_("Dates lie between 1970 and 9998."), code="far")
        if local.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive.replace(tzinfo=None):
            raise ValidationError(_("Clocks skip this time."), code="skipped")
        return local.astimezone(UTC)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(organisation_zone()).replace(tzinfo=None)
        return value
