"""Forms of this room. They parse; what is allowed is said by the services."""

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Role, Scope
from accounts.services.tokens import DEFAULT_DAYS, MAX_DAYS


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
