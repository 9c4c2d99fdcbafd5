"""The small forms of this room's steps: parsing only. The form of a registration is in ``projects.registration``."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.facts import MAX_TEXT
from projects.models import ProjectRole, ResearchArea, Tier


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


def area_choices() -> list[tuple[str, str]]:
    return [("", "–"), *ResearchArea.objects.order_by("title").values_list("name", "title")]


class AreaEditForm(forms.Form):
    """What of an area may change: its key stays."""

    title = forms.CharField(label=_("Title"), max_length=200)
    parent = forms.ChoiceField(label=_("Within"), required=False, choices=area_choices)


class AreaForm(AreaEditForm):
    name = forms.SlugField(
        label=_("Key"), max_length=60, help_text=_("Lower-case letters, digits, - and _. It stays as it is.")
    )
    field_order = ("title", "name", "parent")


class MilestoneDayForm(forms.Form):
    """A day for a milestone: when it was met, or when it is due now."""

    day = forms.DateField(label=_("Day"), widget=forms.DateInput(attrs={"type": "date"}))
