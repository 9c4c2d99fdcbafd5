"""Money and GPUs as pages say them. ``{% load money %}``."""

from decimal import Decimal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel import formats
from portal.pages.cost import Cost

register = template.Library()

CENTS_BELOW = 100
"""Under so much, cents are worth saying."""


@register.simple_tag
def money(cost: Cost | None, currency: str = "") -> SafeString:
    """What is known of a cost; ``currency`` stands in the head already. Unknown is said, never shown as nothing."""
    if cost is None:
        return format_html('<span class="is-zero">{}</span>', "–")
    parts = [
        amount_of(amount) if code == currency else f"{amount_of(amount)}{formats.THIN_SPACE}{code}"
        for code, amount in sorted(cost.amounts.items())
    ]
    known = ", ".join(parts)
    if cost.is_whole:
        return format_html("{}", known or formats.number(0))
    said = _("over %(known)s") % {"known": known} if known else _("unknown")
    return format_html('<span title="{}">{}</span>', _("Some of the time has no price."), said)


@register.filter
def amount_of(value: Decimal | float | None) -> str:
    """128 741 or 12.50: cents only where the sum is small."""
    if value is None:
        return "–"
    return formats.number(value, 2 if 0 < abs(float(value)) < CENTS_BELOW else 0)


@register.filter
def gpus_of(value: float | None) -> str:
    """Whole GPUs, or a part of one where a job asked for a part: 128, 0.5."""
    if value is None:
        return "–"
    return formats.number(value, 0 if value == int(value) else 1)
