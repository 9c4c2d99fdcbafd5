"""Forms of this room. They parse; what is allowed is said by the services."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Announcement, AnnouncementKind, AnnouncementLevel, Role, Scope
from accounts.services import AnnouncementSpec
from accounts.services.announcements import MAX_TEXT, MAX_TITLE
from accounts.services.tokens import DEFAULT_DAYS, MAX_DAYS
from kernel.calendar import organisation_zone
from kernel.forms import InstantField


class PasswordForm(forms.Form):
    old_password = forms.CharField(
        label=_("Password now"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    new_password = forms.CharField(
        label=_("New password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least eight characters, not a common word, not close to your name."),
    )


class PersonForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150)
    display_name = forms.CharField(label=_("Name"), max_length=200)
    email = forms.CharField(label=_("Email"), max_length=254, required=False)
    is_service = forms.BooleanField(
        label=_("Service account"),
        required=False,
        help_text=_("For a program: it never signs in on this page and acts only through tokens."),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Empty for a service account, or for somebody who uses single sign-on."),
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class TokenForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("What uses it, for example: nightly export."))
    scopes = forms.ChoiceField(label=_("May"), choices=Scope.choices, initial=Scope.READ)
    days = forms.IntegerField(
        label=_("Lives for"), min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS, help_text=_("At most 365 days.")
    )


class AuditFilterForm(forms.Form):
    """What to look for; all of it by GET, so that a view of the log has an address."""

    actor = forms.CharField(label=_("Who"), required=False, max_length=200)
    action = forms.CharField(label=_("Action"), required=False, max_length=80)
    subject = forms.CharField(label=_("Subject"), required=False, max_length=200)
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}))


class AnnouncementForm(forms.Form):
    """What is told to whom and when; times are those of the organisation's clocks."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=AnnouncementKind.choices,
        initial=AnnouncementKind.ANNOUNCEMENT,
        help_text=_(
            "A maintenance window is announced from 72 hours before, and nobody can close its banner while it lasts."
        ),
    )
    title = forms.CharField(
        label=_("Title"), max_length=MAX_TITLE, help_text=_("What happens, in a few words: storage is moved.")
    )
    text = forms.CharField(
        label=_("Text"),
        max_length=MAX_TEXT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("What is affected, whether running jobs go on, whom to ask."),
    )
    starts_at = InstantField(label=_("From"), required=False)
    ends_at = InstantField(label=_("Until"), required=False)
    level = forms.ChoiceField(label=_("Weight"), choices=AnnouncementLevel.choices, initial=AnnouncementLevel.INFO)
    audience = forms.MultipleChoiceField(
        label=_("Only for these roles"),
        choices=Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: for everybody, also on the page for signing in."),
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        zone = {"zone": organisation_zone().key}
        self.fields["starts_at"].help_text = _("Empty: now. Time in %(zone)s.") % zone
        self.fields["ends_at"].help_text = _("Empty: until it is withdrawn; a maintenance window needs it.")

    @classmethod
    def of(cls, row: Announcement) -> "AnnouncementForm":
        """The form that shows what is there."""
        return cls(initial={name: getattr(row, name) for name in cls.base_fields})

    def spec(self) -> AnnouncementSpec:
        """What the valid form asks for."""
        return AnnouncementSpec(**{name: value for name, value in self.cleaned_data.items() if name != "revision"})
