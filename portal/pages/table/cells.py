"""How a value of the table looks in its cell.

Cells are built here and not by a template: a table of 300 projects has some 5 000 of them, and the template engine
takes ten times as long. All text is escaped. Each is a pure function of what it shows and of the language.
"""

from datetime import date, datetime, tzinfo
from functools import lru_cache

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from kernel import formats, svg
from kernel.looks import tier_look
from kernel.templatetags.sluice import icon, state_badge, tier_badge
from monitoring.selectors.latest import Utilisation
from portal.pages.allotment import Allotment
from portal.pages.cost import Cost
from portal.pages.table import sums
from portal.pages.table.rows import Row

KEPT = 4096
"""How many cells of a kind are remembered: a table is asked for again and again, and little of it changes."""
BAR_WIDTH = 72
NONE = mark_safe('<span class="is-none">–</span>')
ZERO = mark_safe('<span class="is-zero">·</span>')


@lru_cache(maxsize=KEPT)
def name(pk: int, label: str, language: str) -> SafeString:
    """The first column: selection and the way to the project."""
    label = label or _("Draft without a name")
    return format_html(
        '<input class="check" type="checkbox" data-select form="selected" name="ids" value="{}" aria-label="{}">'
        '<a data-open href="{}" title="{}">{}</a>',
        pk,
        _("Select %(name)s") % {"name": label},
        _address(pk),
        label,
        label,
    )


def _address(pk: int) -> str:
    """The project's page; resolving the name for every row would cost more than the rest of the cell."""
    return _pattern().replace("/0", f"/{pk}")


@lru_cache(maxsize=1)
def _pattern() -> str:
    return reverse("project", args=[0])


@lru_cache(maxsize=64)
def state(value: str, language: str) -> SafeString:
    return state_badge(value)


@lru_cache(maxsize=64)
def tier(value: str | None, language: str) -> SafeString:
    return tier_badge(value) if value and tier_look(value)[0] else NONE


@lru_cache(maxsize=KEPT)
def text(value: str) -> SafeString:
    return SafeString(escape(value)) if value else NONE


@lru_cache(maxsize=KEPT)
def cut(value: str) -> SafeString:
    """A text of any length: what has no room is read on hover."""
    return format_html('<span title="{}">{}</span>', value, value) if value else NONE


@lru_cache(maxsize=KEPT)
def amount(value: float | None) -> SafeString:
    """GPUs: a faint point for none at all, so that the eye finds the figures."""
    if value is None:
        return NONE
    return SafeString(escape(formats.number(value, 0 if value == int(value) else 1))) if value else ZERO


def limit(value: int | None) -> SafeString:
    return amount(value) if value is not None else SafeString(escape(_("none")))


@lru_cache(maxsize=KEPT)
def bar(total: Allotment, language: str) -> SafeString:
    """Used, guaranteed and limit on the project's own limit."""
    if not (total.used or total.guaranteed or total.bar_limit):
        return SafeString("")
    words = _("%(used)s used, %(guaranteed)s guaranteed, limit %(limit)s") % {
        "used": formats.number(total.used),
        "guaranteed": formats.number(total.guaranteed),
        "limit": _("none") if total.limit is None else formats.number(total.limit),
    }
    return svg.usage_bar(svg.Usage(total.used, total.guaranteed, total.bar_limit), label=words, width=BAR_WIDTH)


def days(row: Row, language: str) -> SafeString:
    """GPU-hours of the last 14 days: the form of the line is the GPUs held, on the project's own busiest day."""
    total, most = sum(row.days), max(row.means, default=0)
    if not total:
        return ZERO
    return _days(tuple(round(100 * held / most) for held in row.means), formats.gpu_hours(total), language)


@lru_cache(maxsize=KEPT)
def _days(shares: tuple[int, ...], total: str, language: str) -> SafeString:
    words = _("%(hours)s GPU-hours in 14 days") % {"hours": total}
    drawn = svg.spark(shares, label=words)
    return format_html('<span class="spark-cell" title="{}">{}</span>', words, drawn)


def hours(value: float) -> SafeString:
    return SafeString(escape(formats.gpu_hours(value))) if value else ZERO


@lru_cache(maxsize=KEPT)
def utilisation(now: Utilisation | None, language: str) -> SafeString:
    """Mean of the GPUs held; no sample is no data."""
    if now is None:
        return ZERO
    if now.mean_pct is None:
        return format_html('<span class="is-none">{}</span>', _("no data"))
    words = _("over %(n)s of %(count)s GPUs held") % {"n": now.n, "count": now.gpus}
    figure = formats.number(now.mean_pct)
    if not now.is_simulated:
        return format_html('<span title="{}">{} %</span>', words, figure)
    # The outline stands for the word, which the line over the table explains once: a word in each row has no room.
    mark, word = (
        '<span class="simulated" title="{}, {}">{} %<span class="visually-hidden"> {}</span></span>',
        _("simulated"),
    )
    return format_html(mark, words, word, figure, word)


def cost(value: Cost | None) -> SafeString:
    return ZERO if value is None else SafeString(escape(sums.in_words(value)))


def simulated_cost(value: Cost | None) -> SafeString:
    """What nobody pays: marked, with the word for who hovers or hears it."""
    if value is None:
        return ZERO
    words = _("simulated: what it would have cost at the prices of its nodes")
    return format_html('<span class="simulated" title="{}">{}</span>', words, sums.in_words(value))


def whole(value: int | None) -> SafeString:
    """A figure of which zero is one."""
    return NONE if value is None else SafeString(escape(formats.number(value)))


@lru_cache(maxsize=KEPT)
def milestone(name: str, due_on: date | None, today: date, language: str) -> SafeString:
    """How far the next milestone is, the late ones with a mark."""
    if due_on is None:
        return NONE
    ahead, words = (due_on - today).days, f"{name}, {due_on.isoformat()}"
    if ahead < 0:
        mark = icon("alert")
        return format_html(
            '<span class="state tone-bad" title="{}">{}<span>{}</span></span>', words, mark, late(-ahead)
        )
    soon = _("today") if ahead == 0 else _("in %(count)s d") % {"count": ahead}
    return format_html('<span title="{}">{}</span>', words, soon)


def late(count: int) -> str:
    return _("%(count)s d late") % {"count": count}


def moment(at: datetime, now: datetime, zone: tzinfo, language: str) -> SafeString:
    """How long ago; what the hover says does not change with the time of day, so that it is remembered."""
    return SafeString(f"{_exact(at, zone, language)}{escape(formats.relative_instant(at, now, zone))}</time>")


@lru_cache(maxsize=KEPT)
def _exact(at: datetime, zone: tzinfo, language: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">', at, formats.exact_instant(at, zone))
