"""Filters as chips in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Chip:
    """``clear`` is the address without this filter; ``words`` what is chosen."""

    key: str
    label: str
    choices: Sequence[tuple[str, str]]
    chosen: Sequence[str]
    clear: str

    @property
    def words(self) -> str:
        labels = dict(self.choices)
        return ", ".join(labels[value] for value in self.chosen) or _("any")


def chip(query: QueryDict, key: str, label: str, choices: Sequence[tuple[str, str]]) -> Chip:
    """Values in the address that are no choice are none."""
    known = [value for value, _label in choices]
    chosen = [value for value in dict.fromkeys(query.getlist(key)) if value in known]
    kept = [(name, value) for name, values in query.lists() for value in values if name not in (key, "page")]
    return Chip(key, label, choices, chosen, urlencode(kept))
