"""Between a service's refusal and the form on a page."""

from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import BaseForm

from kernel.errors import Invalid


def add_errors(form: BaseForm, invalid: Invalid) -> None:
    """Put each sentence on its field; what no field of this form is called goes above all fields.

    A nested name (``milestones.0.due_on``) goes to the field of its first part. The form must have been bound.
    """
    for name, sentences in invalid.errors.items():
        first = name.split(".", 1)[0]
        field = name if name in form.fields else first if first in form.fields else NON_FIELD_ERRORS
        for sentence in sentences:
            form.add_error(None if field == NON_FIELD_ERRORS else field, sentence)
