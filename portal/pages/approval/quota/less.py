"""Approving less than is asked: fewer guaranteed, a lower limit, an earlier end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.services.voting import MOST_COMMENT
from kernel.formats import number
from kernel.forms import InstantField
from portal.pages.approval.kinds import LessAsked
from quotas.requests.asking import Asked

MOST = 2**31 - 1


class LessForm(LessAsked):
    """Only what is changed goes into the vote. The room that asked judges whether it is less."""

    guaranteed = forms.IntegerField(label=gettext_lazy("Guaranteed"), min_value=0, max_value=MOST)
    limit = forms.IntegerField(label=gettext_lazy("Limit"), min_value=0, max_value=MOST, required=False)
    ends_at = InstantField(label=gettext_lazy("Until"), required=False)
    comment = forms.CharField(
        label=gettext_lazy("Comment, kept with the decision"),
        max_length=MOST_COMMENT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "data-comment-copy": ""}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=MOST)
    seen = forms.CharField(widget=forms.HiddenInput, max_length=200)

    def __init__(self, data: Mapping[str, Any] | None, *, initial: Mapping[str, Any], wanted: Asked) -> None:
        asked = {"guaranteed": wanted.totals.guaranteed, "limit": wanted.totals.limit, "ends_at": wanted.ends_at}
        super().__init__(data, initial={**asked, **initial})
        self._asked = asked
        self.fields["guaranteed"].help_text = _("Asked for: %(count)s, altogether.") % {
            "count": number(wanted.totals.guaranteed)
        }
        has_limit = wanted.totals.limit is not None
        self.fields["limit"].help_text = (
            _("Asked for: %(count)s.") % {"count": number(wanted.totals.limit or 0)}
            if has_limit
            else _("Asked for: no limit. Empty: as asked.")
        )
        self.fields["ends_at"].help_text = (
            _("Not later than asked.") if wanted.is_temporary else _("Asked for without an end. Empty: as asked.")
        )

    def changes(self) -> dict[str, Any]:
        """What is otherwise than asked, as plain values; a field that was emptied is as asked."""
        given = self.cleaned_data
        changed = {name: given[name] for name in self._asked if given[name] is not None}
        same = {name for name, value in changed.items() if _same(value, self._asked[name])}
        return {name: _plain(value) for name, value in changed.items() if name not in same}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors and not self.changes():
            self.add_error("guaranteed", _("This is what is asked for. Name less, or approve it as it is."))
        return given


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _same(value: Any, asked: Any) -> bool:
    """A picker knows no seconds."""
    if isinstance(value, datetime) and isinstance(asked, datetime):
        return value in (asked, asked.replace(second=0, microsecond=0))
    return bool(value == asked)
