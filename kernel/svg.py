"""Small pictures in cells, made on the server as SVG.

Colours come from classes (the content-security policy forbids style attributes) and follow the theme. The
functions are pure: numbers in, markup out; every text given to them is escaped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

BAR_HEIGHT = 8
TICK_HEIGHT = 14
TICK_WIDTH = 2
CAP_HEIGHT = 6
SPARK_HEIGHT = 20


@dataclass(frozen=True)
class Usage:
    """GPUs in use, guaranteed and allowed at most; `scale` is the amount that fills the whole width.

    Without a limit the track stays open at its end and, where nothing else scales it, has a third of room.
    """

    used: float
    guaranteed: float
    limit: float | None
    scale: float | None = None

    @property
    def full(self) -> float:
        """The amount at the right edge; never zero, so that an empty bar can be drawn."""
        most = max(self.used, self.guaranteed)
        return max(self.scale or (most * 4 / 3 if self.limit is None else max(self.limit, most)), 1e-9)

    @property
    def is_beyond(self) -> bool:
        """Whether more is used than the limit allows."""
        return self.limit is not None and self.used > self.limit


@dataclass(frozen=True)
class Segment:
    """One part of a stacked bar: its amount, its class and what it is called."""

    amount: float
    css_class: str
    label: str = ""


def _figure(value: float) -> str:
    """A coordinate with at most two decimals, written without a locale."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _rect(width: float, unit: str, css_class: str, x: float = 0) -> SafeString:
    if width <= 0:
        return SafeString("")
    top = (TICK_HEIGHT + 2 - BAR_HEIGHT) / 2
    return format_html(
        '<rect class="{}" x="{}{}" y="{}" width="{}{}" height="{}" rx="2"/>',
        css_class,
        _figure(x),
        unit if x else "",
        _figure(top),
        _figure(width),
        unit,
        BAR_HEIGHT,
    )


def usage_bar(usage: Usage, *, label: str, width: int | None = 94, css_class: str = "") -> SafeString:
    """Used, guaranteed and limit in one bar; without a width it is as wide as its place.

    The track ends at the limit, the fill at what is used (the part over the guarantee is pale), the tick
    stands at the guarantee. Use beyond the limit is drawn and marked, never cut off silently.
    """
    whole, unit = (100, "%") if width is None else (width, "")
    step = whole / usage.full
    within = min(usage.used, usage.guaranteed) * step
    filled = min(usage.used * step, whole)
    parts = [
        *_track(usage, whole, unit),
        _rect(filled, unit, "bar-pale bar-beyond" if usage.is_beyond else "bar-pale"),
        _rect(min(within, whole), unit, "bar-used"),
    ]
    if usage.guaranteed > 0:
        x = min(usage.guaranteed * step, whole)
        parts.append(_fluid_tick(x) if width is None else _tick(x, width))
    return format_html(
        '<svg class="usage-bar {}{}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        css_class,
        " is-fluid" if width is None else "",
        "100%" if width is None else width + TICK_WIDTH,
        TICK_HEIGHT + 2,
        label,
        format_html_join("", "{}", ((part,) for part in parts)),
    )


def _track(usage: Usage, whole: float, unit: str) -> list[SafeString]:
    """To the limit; without one it goes on in three pieces that get shorter."""
    if usage.limit is not None:
        return [_rect(max(min(usage.limit * whole / usage.full, whole), 1.0), unit, "bar-track")]
    pieces = ((0.0, 0.86), (0.885, 0.05), (0.96, 0.03))
    return [_rect(part * whole, unit, "bar-track", start * whole) for start, part in pieces]


def _tick(x: float, width: int) -> SafeString:
    """The guarantee, outlined in the background so that it stands out on the fill."""
    left = min(max(x - TICK_WIDTH / 2, 0), width)
    return format_html(
        '<rect class="bar-tick-edge" x="{}" y="0" width="{}" height="{}"/>'
        '<rect class="bar-tick" x="{}" y="1" width="{}" height="{}"/>',
        _figure(left - 1),
        TICK_WIDTH + 2,
        TICK_HEIGHT + 2,
        _figure(left),
        TICK_WIDTH,
        TICK_HEIGHT,
    )


def _fluid_tick(per_cent: float) -> SafeString:
    """The same where only the browser knows the width: its middle stands at this part of it."""
    return format_html(
        '<rect class="bar-tick-edge" x="{}%" y="0" width="{}" height="{}" transform="translate({} 0)"/>'
        '<rect class="bar-tick" x="{}%" y="1" width="{}" height="{}" transform="translate({} 0)"/>',
        _figure(per_cent),
        TICK_WIDTH + 2,
        TICK_HEIGHT + 2,
        -(TICK_WIDTH + 2) // 2,
        _figure(per_cent),
        TICK_WIDTH,
        TICK_HEIGHT,
        -TICK_WIDTH // 2,
    )


def cap_bar(value: float, cap: float, *, label: str, width: int = 276) -> SafeString:
    """A grey bar of what is used of a cap; full and marked when the cap is passed."""
    share = value / cap if cap > 0 else (1.0 if value > 0 else 0.0)
    return format_html(
        '<svg class="cap-bar {}" viewBox="0 0 {} {}" width="{}" height="{}" preserveAspectRatio="none" '
        'role="img" aria-label="{}"><rect class="bar-track" width="{}" height="{}" rx="2"/>'
        '<rect class="cap-fill" width="{}" height="{}" rx="2"/></svg>',
        "is-over" if share > 1 else "",
        width,
        CAP_HEIGHT,
        width,
        CAP_HEIGHT,
        label,
        width,
        CAP_HEIGHT,
        _figure(width * min(max(share, 0.0), 1.0)),
        CAP_HEIGHT,
    )


def stacked_bar(segments: Sequence[Segment], *, label: str, height: int = 12, css_class: str = "") -> SafeString:
    """Parts of a whole side by side over the width of their place, one class each, a hairline between them."""
    total = sum(segment.amount for segment in segments)
    rects: list[SafeString] = []
    x = 0.0
    for segment in segments:
        part = 100 * segment.amount / total if total > 0 else 0.0
        if part > 0:
            rects.append(_segment(segment, x, part, height))
        x += part
    return format_html(
        '<svg class="stacked-bar is-fluid {}" width="100%" height="{}" role="img" aria-label="{}">{}</svg>',
        css_class,
        height,
        label,
        format_html_join("", "{}", ((rect,) for rect in rects)),
    )


def _segment(segment: Segment, x: float, width: float, height: int) -> SafeString:
    """Both in per cent of the bar; the hairline is drawn over the part's beginning."""
    rect = format_html(
        '<rect class="{}" x="{}%" width="{}%" height="{}"><title>{}</title></rect>',
        segment.css_class,
        _figure(x),
        _figure(width),
        height,
        segment.label,
    )
    cut = format_html('<rect class="bar-cut" x="{}%" width="1" height="{}"/>', _figure(x), height)
    return rect + cut if x > 0 else rect


def tier_bars(level: int) -> SafeString:
    """Three rising bars, `level` of them filled (3 high, 2 mid, 1 low, 0 none)."""
    bars = format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="2.5" height="{}" rx=".5"/>',
        (("tier-on" if index < level else "tier-off", index * 4, 9 - 3 * index, 3 * (index + 1)) for index in range(3)),
    )
    return format_html('<svg class="tier-bars tier-{}" width="11" height="12" aria-hidden="true">{}</svg>', level, bars)


def spark(values: Sequence[float | None], *, label: str, width: int = 72) -> SafeString:
    """A line over equal steps on a fixed scale of 0 to 100; a missing value is a hatched gap, never zero."""
    step = width / max(len(values) - 1, 1)
    runs = [(key, list(group)) for key, group in groupby(enumerate(values), lambda pair: pair[1] is None)]
    parts: list[SafeString] = []
    for is_gap, run in runs:
        if is_gap:
            parts.append(_gap(run[0][0], run[-1][0], step, width))
        else:
            parts.append(_run([(index * step, value) for index, value in run if value is not None]))
    return format_html(
        '<svg class="spark" width="{}" height="{}" role="img" aria-label="{}">{}'
        '<line class="spark-base" x1="0" y1="19.5" x2="{}" y2="19.5"/></svg>',
        width,
        SPARK_HEIGHT,
        label,
        format_html_join("", "{}", ((part,) for part in parts)),
        width,
    )


def _gap(first: int, last: int, step: float, width: int) -> SafeString:
    start = max((first - 1) * step, 0.0)
    end = min((last + 1) * step, float(width))
    return format_html(
        '<rect class="no-data" x="{}" y="0" width="{}" height="{}"/>',
        _figure(start),
        _figure(end - start),
        SPARK_HEIGHT,
    )


def _run(points: Iterable[tuple[float, float]]) -> SafeString:
    """One unbroken stretch: a pale area under a line; a single value is a dot."""
    placed = [(x, _spark_y(value)) for x, value in points]
    if len(placed) == 1:
        x, y = placed[0]
        return format_html('<circle class="spark-dot" cx="{}" cy="{}" r="1.25"/>', _figure(x), _figure(y))
    line = " ".join(f"{_figure(x)},{_figure(y)}" for x, y in placed)
    base = SPARK_HEIGHT - 1
    area = f"{_figure(placed[0][0])},{base} {line} {_figure(placed[-1][0])},{base}"
    return format_html(
        '<polygon class="spark-area" points="{}"/><polyline class="spark-line" points="{}"/>', area, line
    )


def _spark_y(value: float) -> float:
    inner = SPARK_HEIGHT - 3
    return 1 + inner * (1 - min(max(value, 0.0), 100.0) / 100)
