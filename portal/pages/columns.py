"""Columns of equal days, stacked by GPU model, made on the server as SVG. Pure.

Places across are percentages, so that the picture is as wide as what it stands in and its type keeps its size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kernel.formats import number

AXIS = 5.0
"""Per cent of the width, left of the columns, for the figures of the scale."""
FILLED = 0.7
"""How much of a day's width its column takes."""
HEIGHT, TOP, FOOT = 96, 18, 18
LEAST_SCALE = 1.0
"""A scale never ends below this amount: seconds of use are not drawn as a full day."""


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
    top = scale_end(max((sum(part.amount for part in day.parts) for day in days), default=0))
    pitch = (100 - AXIS) / max(len(days), 1)
    drawn = (_column(day, AXIS + index * pitch, pitch, top) for index, day in enumerate(days))
    return format_html(
        '<svg class="day-columns" width="100%" height="{}" role="img" aria-label="{}">{}{}</svg>',
        TOP + HEIGHT + FOOT,
        label,
        format_html_join("", "{}", ((_line(share, top),) for share in (0, 0.5, 1))),
        format_html_join("", "{}", ((column,) for column in drawn)),
    )


def scale_end(most: float) -> float:
    """1, 2 or 5 times a power of ten that holds ``most``, and never less than ``LEAST_SCALE``."""
    if most <= LEAST_SCALE:
        return LEAST_SCALE
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)


def _line(share: float, top: float) -> SafeString:
    amount, y = share * top, TOP + HEIGHT * (1 - share)
    return format_html(
        '<line class="column-line" x1="{}%" x2="100%" y1="{}" y2="{}"/>'
        '<text class="column-scale" x="{}%" y="{}" dx="-8">{}</text>',
        AXIS,
        y + 0.5,
        y + 0.5,
        AXIS,
        y + 4,
        number(amount, 0 if amount == int(amount) else 1),
    )


def _column(day: Day, left: float, pitch: float, top: float) -> SafeString:
    x, width, y = left + pitch * (1 - FILLED) / 2, pitch * FILLED, float(TOP + HEIGHT)
    rects: list[SafeString] = []
    for part in day.parts:
        height = HEIGHT * part.amount / top
        y -= height
        rects.append(
            format_html(
                '<rect class="{} {}" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
                part.css_class,
                "bar-pale" if day.is_partial else "bar-used",
                f"{x:.2f}",
                f"{y:.2f}",
                f"{width:.2f}",
                f"{max(height, 0.5):.2f}",
                part.title,
            )
        )
    middle = f"{left + pitch / 2:.2f}"
    total = format_html('<text class="column-sum" x="{}%" y="{}">{}</text>', middle, f"{y - 4:.2f}", day.total)
    return format_html(
        '<g>{}{}<text class="column-day" x="{}%" y="{}">{}</text></g>',
        format_html_join("", "{}", ((rect,) for rect in rects)),
        total if day.parts else "",
        middle,
        TOP + HEIGHT + FOOT - 4,
        day.label,
    )
