"""Forms of this room. They parse; what is allowed is said by the services."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Person
from accounts.policies import visible_to
from approvals.services.voting import MOST_COMMENT
from kernel.calendar import organisation_zone
from kernel.forms import InstantField

PEOPLE = {"autocomplete": "off", "list": "people-found", "data-people": "", "spellcheck": "false"}


class PersonField(forms.CharField):
    """Somebody by user name; the letters typed so far are looked up where there is a script."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=150, widget=forms.TextInput(attrs=dict(PEOPLE)), **options)


def person_named(asker: object, username: str) -> Person:
    """An active person whom the asker may know of. Raises ``ValidationError`` naming what was typed."""
    found = visible_to(asker).filter(username__iexact=username.strip(), is_active=True, is_service=False).first()
    if found is None:
        raise ValidationError(_("“%(name)s” is no active person.") % {"name": username[:150]})
    return found


class DelegationForm(forms.Form):
    """Everything that one may decide, for a time."""

    stand_in = PersonField(label=gettext_lazy("Who stands in"), help_text=gettext_lazy("The user name."))
    starts_at = InstantField(label=gettext_lazy("From"), required=False)
    ends_at = InstantField(label=gettext_lazy("Until"))
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MOST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("It is kept, and whoever stands in reads it."),
    )

    def __init__(self, *args: Any, asker: Person, **options: Any) -> None:
        super().__init__(*args, **options)
        self.asker = asker
        self.fields["starts_at"].help_text = _("Empty: now. Time in %(zone)s.") % {"zone": organisation_zone().key}

    def clean_stand_in(self) -> Person:
        return person_named(self.asker, self.cleaned_data["stand_in"])
