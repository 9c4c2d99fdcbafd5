"""The heat map's table: one bar per pool. ``{% load heat_rows %}``."""

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel import svg

register = template.Library()


@register.simple_tag
def stacked(segments: Sequence[svg.Segment]) -> SafeString:
    """What the GPUs of a pool do now, busy first."""
    return svg.stacked_bar(segments, label=_("Utilisation of the pool's GPUs now"))
