"""Pictures of this room. ``{% load approvals %}``."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from approvals.kinds import QueueRow
from approvals.queue import Line
from kernel.templatetags.sluice import gpu_model_dot, icon

register = template.Library()

WIDTH, HEIGHT = 48, 6


@register.simple_tag
def change(shown: QueueRow) -> SafeString:
    """The model, and what is before and after. Made in code: a queue shows hundreds."""
    dot = gpu_model_dot(shown.gpu_model) if shown.gpu_model else ""
    if not shown.before and not shown.after:
        return format_html("{}", dot)
    return format_html(
        '{}<span class="change"><span class="change-from">{}</span>{}<b>{}</b></span>',
        dot,
        shown.before or "–",
        icon("arrow-right"),
        shown.after or "–",
    )


@register.simple_tag
def fits(line: Line) -> SafeString:
    """Whether what is asked fits what is free, as a bar and in words."""
    if line.fits == "none":
        return format_html('<span class="text-2">{}</span>', line.fits_words)
    bar = fit_bar(line.shown.asked_more, line.shown.free or 0)
    if line.fits == "yes":
        return format_html('<span class="fit">{}<span>{}</span></span>', bar, line.fits_words)
    return format_html(
        '<span class="fit">{}<span class="is-late">{} {}</span></span>', bar, icon("alert"), line.fits_words
    )


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
