"""Filters for the history of a project. ``{% load registry %}``."""

from django import template

from projects import words
from projects.history import HistoryItem
from projects.models import Measurement

register = template.Library()


@register.filter
def registry_word(what: str) -> str:
    """The word for a field or an event."""
    return words.word(what)


@register.filter
def value_before(item: HistoryItem) -> str:
    """The value before, in words."""
    return words.value(item.what, item.before)


@register.filter
def value_after(item: HistoryItem) -> str:
    """The value after, in words."""
    return words.value(item.what, item.after)


@register.filter
def measured(row: Measurement) -> str:
    """What a measurement states, in words."""
    return words.measured(row)
