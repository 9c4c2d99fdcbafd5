"""The form of a view: parsing only."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.pages.views.services import MAX_NAME


class ViewForm(forms.Form):
    """The address is not typed: it is that of the table."""

    name = forms.CharField(label=_("Name"), max_length=MAX_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    is_shared = forms.BooleanField(
        label=_("Share with everybody"),
        required=False,
        help_text=_("Everybody sees it under Shared, each with the projects that they may know of."),
    )
    is_default = forms.BooleanField(label=_("Open the table with it"), required=False)
