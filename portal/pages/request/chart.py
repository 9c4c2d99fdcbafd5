"""The day chart beside the form: what is asked for, where it does not fit, what stays free. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kernel.formats import number, short_day
from portal.pages.request.fit import DayFit, Fit

WIDTH, HEIGHT = 356, 132
LEFT, TOP, FOOT = 32, 8, 20
MOST_BARS = 80
LEAST_APART = 13
"""Between two figures of the scale, in pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One day, or the worst of several in a row."""

    first: date
    last: date
    worst: DayFit


def bars_of(days: Sequence[DayFit]) -> list[Bar]:
    """At most ``MOST_BARS``: of a longer time each bar stands for as many days as are needed."""
    size = -(-len(days) // MOST_BARS)
    groups = [days[index : index + size] for index in range(0, len(days), size)]
    return [
        Bar(group[0].day, group[-1].day, min(group, key=lambda day: (day.fits, day.free - day.asked)))
        for group in groups
    ]


def day_chart(fit: Fit, *, label: str) -> SafeString:
    """Bars from zero up: asked for, then what stays free; what does not fit is hatched up to what is free."""
    bars = bars_of(fit.days)
    high = max(1, *(max(bar.worst.free, bar.worst.asked) for bar in bars))
    scale = (HEIGHT - TOP - FOOT) / high
    step = (WIDTH - LEFT) / len(bars)
    gap = 1 if step >= 3 else 0
    drawn = [_bar(bar, LEFT + index * step, step - gap, scale) for index, bar in enumerate(bars)]
    return format_html(
        '<svg class="day-chart" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        '<defs><pattern id="tight-hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="tight-ground" width="5" height="5"/>'
        '<line class="tight-line" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>{}{}{}</svg>',
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT,
        label,
        _scale(fit.most, high, scale),
        format_html_join("", "{}", ((bar,) for bar in drawn)),
        format_html("{}{}", _asked_line(fit.most, scale), _dates(bars)),
    )


def _bar(bar: Bar, x: float, width: float, scale: float) -> SafeString:
    worst = bar.worst
    parts = []
    if worst.fits:
        parts = [("day-asked", 0, worst.asked), ("day-free", worst.asked, worst.free)]
    elif worst.free > 0:
        parts = [("day-tight", 0, worst.free)]
    else:
        parts = [("day-tight", 0, max(1, round(2 / scale)))]
    words = short_day(bar.first) if bar.first == bar.last else f"{short_day(bar.first)}–{short_day(bar.last)}"
    rects = ((name, *_place(x, width, low, high, scale)) for name, low, high in parts if high > low)
    return format_html(
        "<g><title>{}: {}</title>{}</g>",
        words,
        number(max(0, worst.free)),
        format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', rects),
    )


def _place(x: float, width: float, low: float, high: float, scale: float) -> tuple[str, str, str, str]:
    base = HEIGHT - FOOT
    return f"{x:.2f}", f"{base - high * scale:.2f}", f"{max(width, 0.5):.2f}", f"{(high - low) * scale:.2f}"


def _asked_line(asked: int, scale: float) -> SafeString:
    if asked <= 0:
        return SafeString("")
    y = f"{HEIGHT - FOOT - asked * scale:.2f}"
    return format_html('<line class="day-line" x1="{}" x2="{}" y1="{}" y2="{}"/>', LEFT, WIDTH, y, y)


def _scale(asked: int, high: int, scale: float) -> SafeString:
    """Nothing, what is asked for, and the top; what would stand on another is left out."""
    base = HEIGHT - FOOT
    marks = [(0, ""), (asked, " is-strong")] if asked > 0 and asked * scale >= LEAST_APART else [(0, "")]
    if all(abs(high - amount) * scale >= LEAST_APART for amount, _strong in marks):
        marks.append((high, ""))
    rows = ((strong, LEFT - 6, f"{base - amount * scale + 4:.2f}", number(amount)) for amount, strong in marks)
    return format_html_join("", '<text class="day-mark{}" x="{}" y="{}">{}</text>', rows)


def _dates(bars: Sequence[Bar]) -> SafeString:
    """The first day, the last, and one or two between where there is room."""
    places = {0: "start", len(bars) - 1: "end"} if len(bars) > 1 else {0: "start"}
    if len(bars) >= 9:
        places |= {len(bars) // 3: "middle", 2 * len(bars) // 3: "middle"}
    step = (WIDTH - LEFT) / len(bars)
    rows = []
    for index, anchor in sorted(places.items()):
        x = {"start": LEFT, "end": WIDTH}.get(anchor, LEFT + (index + 0.5) * step)
        day = bars[index].last if anchor == "end" else bars[index].first
        rows.append((anchor, f"{x:.1f}", HEIGHT - 5, short_day(day)))
    return format_html_join("", '<text class="day-mark is-{}" x="{}" y="{}">{}</text>', rows)
