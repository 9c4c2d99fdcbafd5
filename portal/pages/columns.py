"""Columns of equal days, stacked by GPU model, made on the server as SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

PITCH, WIDTH = 52, 36
HEIGHT, TOP, FOOT = 96, 16, 18


@dataclass(frozen=True, slots=True)
class Part:
    """``css_class`` carries the model's hue; ``title`` is said on hover."""

    amount: float
    css_class: str
    title: str


@dataclass(frozen=True, slots=True)
class Day:
    label: str
    parts: tuple[Part, ...]
    total: str
    is_partial: bool = False
    """Today: not over yet, drawn pale."""


def day_columns(days: Sequence[Day], *, label: str) -> SafeString:
    """One column a day on a common scale, its sum above it and its day below."""
    top = max((sum(part.amount for part in day.parts) for day in days), default=0) or 1
    columns = format_html_join("", "{}", ((_column(day, index, top),) for index, day in enumerate(days)))
    width = PITCH * len(days)
    base = TOP + HEIGHT + 0.5
    return format_html(
        '<svg class="day-columns" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}'
        '<line class="spark-base" x1="0" y1="{}" x2="{}" y2="{}"/></svg>',
        width,
        TOP + HEIGHT + FOOT,
        width,
        TOP + HEIGHT + FOOT,
        label,
        columns,
        base,
        width,
        base,
    )


def _column(day: Day, index: int, top: float) -> SafeString:
    x, y = index * PITCH + (PITCH - WIDTH) // 2, float(TOP + HEIGHT)
    rects: list[SafeString] = []
    for part in day.parts:
        height = HEIGHT * part.amount / top
        y -= height
        rects.append(
            format_html(
                '<rect class="{} {}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
                part.css_class,
                "bar-pale" if day.is_partial else "bar-used",
                x,
                f"{y:.2f}",
                WIDTH,
                f"{max(height, 0.5):.2f}",
                part.title,
            )
        )
    middle = x + WIDTH / 2
    total = format_html('<text class="column-sum" x="{}" y="{}">{}</text>', middle, f"{y - 4:.2f}", day.total)
    return format_html(
        '<g>{}{}<text class="column-day" x="{}" y="{}">{}</text></g>',
        format_html_join("", "{}", ((rect,) for rect in rects)),
        total if day.parts else "",
        middle,
        TOP + HEIGHT + FOOT - 4,
        day.label,
    )
