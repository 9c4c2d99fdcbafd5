"""What is typed on a decision page."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Person
from approvals.models import Answer
from approvals.services.voting import MOST_COMMENT, Ballot


class AnswerForm(forms.Form):
    """An answer, on the version and the content that were looked at."""

    answer = forms.ChoiceField(choices=Answer.choices)
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    seen = forms.CharField(max_length=200)
    comment = forms.CharField(
        label=_("Comment, kept with the decision"), max_length=MOST_COMMENT, required=False, strip=True
    )

    def ballot(self, **changes: Any) -> Ballot:
        given = self.cleaned_data
        return Ballot(given["answer"], given["version"], given["seen"], given["comment"], changes)


class CommentForm(forms.Form):
    text = forms.CharField(
        label=_("Comment"), max_length=MOST_COMMENT, widget=forms.Textarea(attrs={"rows": 2}), strip=True
    )
    is_private = forms.BooleanField(label=_("Private: for those who decide"), required=False)


class HandOnForm(forms.Form):
    """Whom the reader asks to decide instead."""

    to = forms.CharField(
        label=_("Person"),
        max_length=150,
        help_text=_("The user name. Anybody who is not on the project's side; you may still decide yourself."),
        widget=forms.TextInput(attrs={"list": "people-found", "data-people": "", "autocomplete": "off"}),
    )
    comment = forms.CharField(
        label=_("What they should know"),
        max_length=MOST_COMMENT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)

    def clean_to(self) -> Person:
        name = self.cleaned_data["to"].strip()
        found = Person.objects.filter(username__iexact=name, is_active=True, is_service=False).first()
        if found is None:
            raise forms.ValidationError(_("Nobody active is called “%(name)s”.") % {"name": name})
        return found


class RefuseForm(forms.Form):
    comment = forms.CharField(
        label=_("Reason"),
        max_length=MOST_COMMENT,
        help_text=_("Who asked reads it: what is missing, and what would help."),
        widget=forms.Textarea(attrs={"rows": 3, "data-comment-copy": ""}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)
    seen = forms.CharField(widget=forms.HiddenInput, max_length=200)


class WithdrawForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=MOST_COMMENT, required=False)
