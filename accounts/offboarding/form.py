"""The form of an off-boarding: a reason, and for each question who takes over."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Person
from accounts.offboarding.steps import Succession
from accounts.services import Farewell
from accounts.services.offboarding import MAX_REASON
from kernel.errors import Invalid

SUCCESSOR, WITHOUT = "successor-", "without-"
MAX_USERNAME = 150


class FarewellForm(forms.Form):
    """``successions`` are the questions as they stand now. What was sent for a question that is gone by now is passed
    on all the same: the act says that nobody asks it any more."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("It is kept with the report, for admins and auditors: left, on leave, other work."),
    )

    def __init__(self, data: Mapping[str, Any] | None, *, successions: Sequence[Succession], actor: Person) -> None:
        super().__init__(data)
        self.successions = successions
        for asked in successions:
            self._ask(asked, actor)

    def _ask(self, asked: Succession, actor: Person) -> None:
        name = asked.subject.name
        likely = [someone for someone in asked.team if someone != actor and not someone.is_service]
        self.fields[SUCCESSOR + asked.key] = forms.CharField(
            label=_("New lead of “%(name)s”") % {"name": name},
            max_length=MAX_USERNAME,
            required=False,
            initial=likely[0].username if likely else "",
            widget=forms.TextInput(
                attrs={"data-people": "", "list": f"people-{asked.key}", "autocomplete": "off", "spellcheck": "false"}
            ),
            help_text=_suggested(likely),
        )
        self.fields[WITHOUT + asked.key] = forms.BooleanField(
            label=_("Leave “%(name)s” without a lead instead") % {"name": name}, required=False
        )

    def questions(self) -> list[tuple[Succession, BoundField, BoundField]]:
        """For the page: each with its two fields."""
        return [(asked, self[SUCCESSOR + asked.key], self[WITHOUT + asked.key]) for asked in self.successions]

    def clean(self) -> dict[str, Any]:
        """User names become people, in one query; of a name that nobody has the field says so."""
        data = super().clean() or self.cleaned_data
        typed = {asked.key: str(data.get(SUCCESSOR + asked.key, "")).strip() for asked in self.successions}
        typed = {key: name for key, name in typed.items() if name and not data.get(WITHOUT + key)}
        known = {row.username.lower(): row.pk for row in Person.objects.filter(username__in=typed.values())}
        missing = {name.lower() for name in typed.values()} - known.keys()
        for name in missing:
            row = Person.objects.filter(username__iexact=name).first()
            known |= {} if row is None else {name: row.pk}
        self._successors: dict[str, int | None] = {
            asked.key: None for asked in self.successions if data.get(WITHOUT + asked.key)
        }
        for key, name in typed.items():
            if name.lower() in known:
                self._successors[key] = known[name.lower()]
            else:
                self.add_error(SUCCESSOR + key, _("Nobody has the user name “%(name)s”.") % {"name": name})
        return data

    def farewell(self) -> Farewell:
        """What the valid form asks for, with a mark for each question that is not asked any more."""
        gone = {
            name.removeprefix(SUCCESSOR): None
            for name in self.data
            if name.startswith(SUCCESSOR) and name not in self.fields
        }
        return Farewell(self.cleaned_data["reason"], {**gone, **self._successors})

    def take(self, refusal: Invalid) -> None:
        """Put each sentence of the act on its field; what no field is called goes above all."""
        for place, sentences in refusal.errors.items():
            field = place.replace("successors.", SUCCESSOR, 1)
            for sentence in sentences:
                self.add_error(field if field in self.fields else NON_FIELD_ERRORS, sentence)


def _suggested(likely: Sequence[Person]) -> str:
    """Who is on the team, by name and user name."""
    if not likely:
        return _("Nobody else is on the project. Type a name or user name and choose.")
    names = ", ".join(f"{someone} ({someone.username})" for someone in likely[:5])
    return _("On the project: %(names)s. Type a name or user name to choose somebody else.") % {"names": names}
