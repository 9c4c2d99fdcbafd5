"""What only decision pages write: days of instants, and GPUs of which a part may be. ``{% load decision %}``."""

from datetime import datetime

from django import template

from kernel import formats
from kernel.calendar import local_day

register = template.Library()


@register.filter
def day_of(at: datetime) -> str:
    """The organisation's day of an instant: 3 Oct 2026."""
    return formats.day(local_day(at))


@register.filter
def short_day_of(at: datetime) -> str:
    """The same where the year is plain: 3 Oct."""
    return formats.short_day(local_day(at))


@register.filter
def gpus(count: float) -> str:
    """Whole GPUs without a decimal, parts of one with one; what is lost with a real minus."""
    written = formats.number(abs(count), 0 if count == int(count) else 1)
    return f"−{written}" if count < 0 else written
