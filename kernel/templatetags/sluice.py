"""Template tags for every room: states, tiers, bars, sparks, times and amounts. ``{% load sluice %}``."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from urllib.parse import urlencode

from django import template
from django.contrib.messages.storage.base import Message
from django.http import QueryDict
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel import clock, formats, heat, looks, svg, toasts
from kernel.calendar import organisation_zone

register = template.Library()

Amount = float | Decimal


@register.simple_tag
@lru_cache(maxsize=512)
def icon(name: str, css_class: str = "") -> SafeString:
    """A drawing from static/icons.svg; decorative, so the words beside it carry the meaning. Drawn once: a table shows
    the same few hundreds of times."""
    return format_html(
        '<svg class="icon {}" width="16" height="16" aria-hidden="true" focusable="false"><use href="{}#{}"/></svg>',
        css_class,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def state_badge(state: str, word: str = "", *, boxed: bool = False) -> SafeString:
    """Icon, word and tone of a state; `word` replaces the usual word, `boxed` gives it a tinted ground."""
    look = looks.state_look(str(state))
    return format_html(
        '<span class="state tone-{}{}">{}<span class="state-word">{}</span></span>',
        look.tone,
        " state-boxed" if boxed else "",
        icon(look.icon),
        word or look.word,
    )


@register.filter
def state_word(state: str) -> str:
    """The word of a state alone, for a sentence."""
    return str(looks.state_look(str(state)).word)


@register.simple_tag
def tier_badge(tier: str | None, word: str = "", *, in_full: bool = False) -> SafeString:
    """Three bars and the word of a priority tier; ``in_full`` where no head says what it is: High tier."""
    level, usual = looks.tier_look(str(tier) if tier else None, in_full=in_full)
    return format_html(
        '<span class="tier{}">{}<span>{}</span></span>',
        "" if level else " is-none",
        svg.tier_bars(level),
        word or usual,
    )


@register.simple_tag
def gpu_model_dot(gpu_model: str, *, show_name: bool = True) -> SafeString:
    """The model's square in its fixed hue, with its name; takes a model, its title or its key."""
    name = str(gpu_model)
    return format_html(
        '<span class="model {}"><span class="model-dot" aria-hidden="true"></span>{}</span>',
        looks.model_class(name),
        format_html('<span class="model-name">{}</span>', looks.model_title(name)) if show_name else "",
    )


@register.filter
def model_class(gpu_model: str) -> str:
    """The class that carries a model's hue (``--model``), for heads and charts."""
    return looks.model_class(str(gpu_model))


@register.filter
def model_title(gpu_model: str) -> str:
    """A model's short title, H100, from the model, its title or its key; for heads and sentences."""
    return looks.model_title(str(gpu_model))


@register.simple_tag
def usage_bar(
    used: Amount,
    guaranteed: Amount,
    limit: Amount | None,
    scale: Amount | None = None,
    width: int | None = 94,
    model: str = "",
) -> SafeString:
    """Used, guaranteed and limit in one bar, `model` in that model's hue; `scale` fills the whole width.

    ``width=None`` fills the cell, which is the table's wide one then; a limit of None is no limit.
    """
    most = None if limit is None else float(limit)
    usage = svg.Usage(float(used), float(guaranteed), most, float(scale) if scale else None)
    figures = {"used": formats.number(used), "guaranteed": formats.number(guaranteed)}
    if limit is None:
        words = _("%(used)s used, %(guaranteed)s guaranteed, no limit") % figures
    else:
        words = _("%(used)s used, %(guaranteed)s guaranteed, limit %(limit)s") % {
            **figures,
            "limit": formats.number(limit),
        }
    return svg.usage_bar(usage, label=words, width=width, css_class=looks.model_class(model) if model else "")


@register.simple_tag
def cap_bar(value: Amount, cap: Amount, width: int = 276) -> SafeString:
    """A grey bar of what is used of a cap."""
    words = _("%(value)s of %(cap)s") % {"value": formats.number(value), "cap": formats.number(cap)}
    return svg.cap_bar(float(value), float(cap), label=words, width=width)


@register.simple_tag
def spark(values: Sequence[float | None], width: int = 72) -> SafeString:
    """Utilisation over equal steps, 0 to 100 per cent; None is a gap and drawn as one."""
    known = [value for value in values if value is not None]
    if not known:
        return format_html('<span class="text-faint">{}</span>', _("no data"))
    words = _("mean %(mean)s %%, %(gaps)s of %(count)s without data") % {
        "mean": formats.number(sum(known) / len(known)),
        "gaps": len(values) - len(known),
        "count": len(values),
    }
    return svg.spark(values, label=words, width=width)


@register.simple_tag
def heat_node(cells: Sequence[heat.Cell], label: str, *, is_simulated: bool = False) -> SafeString:
    """A node of the heat map: one cell for each GPU (``kernel.heat.Cell``)."""
    return heat.node_column(cells, label=label, is_simulated=is_simulated)


@register.simple_tag
def heat_legend() -> SafeString:
    """What the colours and marks of the heat map mean."""
    steps = format_html_join(
        "",
        '<span class="heat-step"><i class="heat-{}"></i>{}</span>',
        ((index, bound) for index, bound in enumerate(("0", "10", "30", "50", "70", "90–100 %"))),
    )
    kinds: tuple[tuple[heat.Kind, str], ...] = (
        ("free", _("free")),
        ("draining", _("draining")),
        ("down", _("down")),
        ("no_data", _("no data")),
    )
    marks = format_html_join(
        "",
        '<span class="legend-item">{}{}</span>',
        ((heat.node_column([heat.Cell(kind)], label=word), word) for kind, word in kinds),
    )
    return format_html('<span class="legend-line"><span class="heat-steps">{}</span>{}</span>', steps, marks)


@register.simple_tag
def simulated_mark() -> SafeString:
    """The mark of whatever no real GPU backs."""
    return format_html('<span class="simulated">{}</span>', _("simulated"))


@register.simple_tag
def live_mark(at: datetime | None = None) -> SafeString:
    """When a live part was last right; static/js/live.js keeps it true after htmx refreshes."""
    instant = (at or clock.now()).astimezone(organisation_zone())
    return format_html(
        '<span class="live" data-live data-stale-word="{}"><span class="live-dot" aria-hidden="true"></span>'
        '<span data-live-word>{}</span> <time datetime="{}">{}</time></span>',
        _("Not current, last right"),
        _("Live,"),
        instant.isoformat(),
        instant.strftime("%H:%M:%S"),
    )


@register.filter
def ago(at: datetime | None) -> SafeString:
    """An instant as distance from now, the exact instant in the organisation's zone on hover."""
    if at is None:
        return format_html('<span class="text-faint">{}</span>', "–")
    zone = organisation_zone()
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        at.isoformat(),
        formats.exact_instant(at, zone),
        formats.relative_instant(at, clock.now(), zone),
    )


@register.filter
def instant(at: datetime | None) -> SafeString:
    """The exact instant in the organisation's zone, for records and audit."""
    if at is None:
        return format_html('<span class="text-faint">{}</span>', "–")
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), formats.exact_instant(at, organisation_zone()))


@register.filter
def moment(at: datetime) -> SafeString:
    """An instant to the second, short enough for a column: the zone, and the year if it is this one, on hover."""
    zone = organisation_zone()
    exact, short = formats.exact_instant(at, zone), formats.short_instant(at, clock.now(), zone)
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, short)


@register.filter
def day(value: date | None) -> str:
    """3 Oct 2026."""
    return "–" if value is None else formats.day(value)


@register.filter
def short_day(value: date | None) -> str:
    """3 Oct, where the year is plain."""
    return "–" if value is None else formats.short_day(value)


@register.filter
def month(value: date) -> str:
    """October 2026."""
    return formats.month(value)


@register.filter
def month_name(value: date) -> str:
    """October, where the year is plain."""
    return formats.month_name(value)


@register.filter
def full_day(value: date) -> str:
    """Saturday 3 October 2026."""
    return formats.full_day(value)


@register.filter
def duration(seconds: Amount | None) -> str:
    """3 h 20 m."""
    return "–" if seconds is None else formats.duration(float(seconds))


@register.filter
def gpu_hours(value: Amount | None) -> str:
    """GPU-hours with a thin space and no false precision."""
    return "–" if value is None else formats.gpu_hours(value)


@register.filter
def number(value: Amount | None, decimals: int = 0) -> str:
    """Digits grouped by a thin space; none is a dash, never zero."""
    return "–" if value is None else formats.number(value, decimals)


@register.filter(name="bytes")
def byte_size(value: float | None) -> str:
    """80 GiB."""
    return "–" if value is None else formats.byte_size(value)


@register.filter
def initials(name: str) -> str:
    """Up to two letters for a person's mark; a Chinese name gives its first character."""
    words = str(name).split()
    if not words:
        return "?"
    if len(words) == 1:
        return words[0][:2].upper() if words[0].isascii() else words[0][0]
    return (words[0][0] + words[-1][0]).upper()


@register.simple_tag(takes_context=True)
def sort_head(context: Context, key: str, label: str, css_class: str = "", select: str = "") -> SafeString:
    """A sortable column head for ``?sort=-used,name``: click sorts, Shift-click adds the column.

    ``select`` puts a box before it that selects all rows, and is what that box is called.
    """
    request = context.get("request")
    query: QueryDict = request.GET if request else QueryDict()
    current = [part for part in query.get("sort", "").split(",") if part]
    names = [part.lstrip("-") for part in current]
    is_down = f"-{key}" in current
    here = names.index(key) if key in names else None
    chosen = f"-{key}" if here is not None and not is_down else key
    added = [*current, key] if here is None else [*current[:here], chosen, *current[here + 1 :]]
    mark = "" if here is None else icon("arrow-down" if is_down else "arrow-up")
    return format_html(
        '<th scope="col" class="{}"{}>{}<a class="sort" href="?{}" data-add-href="?{}">{}{}</a></th>',
        css_class,
        "" if here is None else format_html(' aria-sort="{}"', "descending" if is_down else "ascending"),
        format_html('<input class="check" type="checkbox" data-select-all aria-label="{}">', select) if select else "",
        _with_sort(query, chosen),
        _with_sort(query, ",".join(added)),
        label,
        mark,
    )


def _with_sort(query: QueryDict, sort: str) -> str:
    kept = [(key, value) for key, values in query.lists() for value in values if key not in ("sort", "page")]
    return urlencode([*kept, ("sort", sort)])


@register.filter
def toast_act(message: Message) -> toasts.Act | None:
    """What a message of the last page offers to do, if anything."""
    return toasts.act_of(message)


@register.simple_tag
def legend_usage() -> SafeString:
    """What the parts of a usage bar mean."""
    words = (
        ("bar-used", _("used")),
        ("bar-pale", _("over guarantee")),
        ("bar-tick", _("guaranteed")),
        ("bar-track", _("to limit")),
    )
    items = format_html_join("", '<span class="legend-item"><i class="legend-{}"></i>{}</span>', words)
    return format_html('<span class="legend-line">{}</span>', items)
