"""Template tags of the ledger: ``{% load ledger %}``."""

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel import formats, looks, svg
from quotas.models import Claim, Resource
from quotas.selectors import ModelLine

register = template.Library()

BYTES = frozenset({Resource.MEMORY, Resource.STORAGE})


@register.simple_tag
def quota_amount(claim: Claim, amount: float | None) -> str:
    """An amount in the unit of the claim's resource; None is a dash, never zero."""
    if amount is None:
        return "–"
    return formats.byte_size(amount) if claim.resource in BYTES else formats.number(amount)


@register.simple_tag
def promised_bar(line: ModelLine) -> SafeString:
    """Promised, free and reserve of a model side by side."""
    parts = (
        (line.promised, "bar-used", _("%(count)s promised")),
        (max(0, line.free), "bar-track", _("%(count)s free")),
        (line.capacity.reserve, "no-data", _("%(count)s in reserve")),
    )
    segments = [svg.Segment(amount, css, words % {"count": formats.number(amount)}) for amount, css, words in parts]
    label = ", ".join(segment.label for segment in segments)
    return svg.stacked_bar(segments, label=label, height=svg.BAR_HEIGHT, css_class=looks.model_class(line.model.name))
