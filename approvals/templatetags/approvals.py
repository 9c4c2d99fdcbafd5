"""Pictures of this room. ``{% load approvals %}``."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()

WIDTH, HEIGHT = 48, 6


@register.simple_tag
def fit_bar(asked: int, free: int) -> SafeString:
    """How much of what is free is asked for; where it is too much, the tick stands at what is free."""
    is_over = asked > free
    share = min(asked / free, 1.0) if free > 0 else 1.0
    words = _("%(asked)s asked of %(free)s free") % {"asked": asked, "free": free}
    filled = max(round(WIDTH * share, 1), 1)
    tick = round(WIDTH * max(free, 0) / asked, 1) if is_over else -10
    return format_html(
        '<svg class="fit-bar{}" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-label="{}">'
        '<rect class="bar-track" width="{w}" height="{h}" rx="2"/>'
        '<rect class="fit-fill" width="{}" height="{h}" rx="2"/>'
        '<rect class="fit-tick" x="{}" width="2" height="{h}"/></svg>',
        " is-over" if is_over else "",
        words,
        filled,
        tick,
        w=WIDTH,
        h=HEIGHT,
    )
