"""The chart of a decision page: owned, reserve, usable and promised over time, the request on top. Pure.

Days are the organisation's. Colours come from classes; every text is escaped.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel.calendar import day_bounds, local_day
from kernel.formats import number, short_day
from portal.pages.approval.evidence.outlook import Axis, Outlook, Step, axis

WIDTH, HEIGHT = 584, 264
LEFT, RIGHT, TOP, FOOT = 36, 82, 14, 22
MOST_DAYS = 6
DAY_WIDTHS = (1, 2, 7, 14, 28, 56, 91)
LINE = 14
"""Least distance of the words at the right."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """From instants and amounts to places."""

    start: datetime
    end: datetime
    axis: Axis

    def x(self, at: datetime) -> float:
        share = (min(max(at, self.start), self.end) - self.start) / (self.end - self.start)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, amount: float) -> float:
        share = (amount - self.axis.low) / (self.axis.high - self.axis.low)
        return HEIGHT - FOOT - min(max(share, 0.0), 1.0) * (HEIGHT - TOP - FOOT)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A step and how far it reaches in the drawing."""

    step: Step
    start: datetime
    end: datetime


def capacity_chart(seen: Outlook, *, label: str) -> SafeString:
    """584 × 264. What reaches beyond the scale is cut at its edge; the table beside it has every figure."""
    stretches = _stretches(seen)
    scale = _Scale(seen.shown.start, stretches[-1].end, axis([part.step for part in stretches]))
    parts = [
        _grid(scale),
        _area(scale, stretches, "chart-promised", lambda step: step.promised, lambda _step: scale.axis.low),
        _area(scale, stretches, "chart-reserve", lambda step: step.owned, lambda step: step.usable),
        _request(scale, stretches),
        _line(scale, stretches, "chart-others", lambda step: step.promised + step.others) if _waits(stretches) else "",
        _line(scale, stretches, "chart-promised-line", lambda step: step.promised),
        _line(scale, stretches, "chart-owned", lambda step: step.owned),
        _line(scale, stretches, "chart-usable", lambda step: step.usable),
        _days(scale),
        _now(scale, seen.now),
        _tightest(scale, seen, stretches),
        _others_word(scale, stretches),
        _words(scale, stretches),
    ]
    return format_html(
        '<svg class="capacity-chart" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT,
        label,
        _joined(parts),
    )


def _stretches(seen: Outlook) -> list[_Stretch]:
    end = seen.shown.end or seen.steps[-1].at + timedelta(days=1)
    ends = [*(step.at for step in seen.steps[1:]), end]
    found = zip(seen.steps, ends, strict=True)
    return [_Stretch(step, step.at, min(until, end)) for step, until in found if step.at < end]


def _waits(stretches: Sequence[_Stretch]) -> bool:
    return any(part.step.others > 0 for part in stretches)


def _area(
    scale: _Scale,
    stretches: Sequence[_Stretch],
    css_class: str,
    top: Callable[[Step], int],
    bottom: Callable[[Step], int],
) -> SafeString:
    above = [point for part in stretches for point in _level(scale, part, top(part.step))]
    below = [point for part in stretches for point in _level(scale, part, bottom(part.step))]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*above, *reversed(below)])
    return format_html('<polygon class="{}" points="{}"/>', css_class, points)


def _line(scale: _Scale, stretches: Sequence[_Stretch], css_class: str, amount: Callable[[Step], int]) -> SafeString:
    points = [point for part in stretches for point in _level(scale, part, amount(part.step))]
    return format_html('<polyline class="{}" points="{}"/>', css_class, " ".join(f"{x:.1f},{y:.1f}" for x, y in points))


def _level(scale: _Scale, part: _Stretch, amount: int) -> list[tuple[float, float]]:
    y = scale.y(amount)
    return [(scale.x(part.start), y), (scale.x(part.end), y)]


def _request(scale: _Scale, stretches: Sequence[_Stretch]) -> SafeString:
    """The band between what is promised without and with it; one that gives back lies below the promises."""
    asked = [part for part in stretches if part.step.asked]
    if not asked:
        return SafeString("")
    runs: list[list[_Stretch]] = [[asked[0]]]
    for before, part in pairwise(asked):
        if before.end == part.start:
            runs[-1].append(part)
        else:
            runs.append([part])
    bands = [
        _area(scale, run, "chart-request", lambda step: step.after, lambda step: step.promised)
        + _line(scale, run, "chart-request-line", lambda step: step.after)
        for run in runs
    ]
    return _joined([*bands, _request_words(scale, asked)])


def _request_words(scale: _Scale, asked: Sequence[_Stretch]) -> SafeString:
    widest = max(asked, key=lambda part: (part.end - part.start, -part.start.timestamp()))
    x = (scale.x(widest.start) + scale.x(widest.end)) / 2
    low, high = scale.y(widest.step.promised), scale.y(widest.step.after)
    y = (low + high) / 2 + 4 if abs(low - high) >= LINE else max(low, high) + LINE
    words = _("this request %(gpus)s") % {"gpus": f"{widest.step.asked:+d}"}
    half = 52
    x = min(max(x, LEFT + half), WIDTH - RIGHT - half)
    return format_html('<text class="chart-request-word" x="{}" y="{}">{}</text>', _figure(x), _figure(y), words)


def _others_word(scale: _Scale, stretches: Sequence[_Stretch]) -> SafeString:
    """What the dashed line is, over the longest stretch of it."""
    waiting = [part for part in stretches if part.step.others]
    if not waiting:
        return SafeString("")
    longest = max(waiting, key=lambda part: (part.end - part.start, -part.start.timestamp()))
    half = 62
    x = min(max((scale.x(longest.start) + scale.x(longest.end)) / 2, LEFT + half), WIDTH - RIGHT - half)
    y = max(scale.y(longest.step.promised + longest.step.others) - 5, 10)
    words = _("others that wait %(gpus)s") % {"gpus": f"{longest.step.others:+d}"}
    return format_html('<text class="chart-mark is-middle" x="{}" y="{}">{}</text>', _figure(x), _figure(y), words)


def _tightest(scale: _Scale, seen: Outlook, stretches: Sequence[_Stretch]) -> SafeString:
    """The stretch with the least left is named and underlined, where it lies in the drawing."""
    tight = seen.tightest
    part = next((part for part in stretches if part.step.at == tight.at), None)
    if part is None or seen.most_asked <= 0:
        return SafeString("")
    x1 = scale.x(max(part.start, seen.during.start))
    x2 = scale.x(part.end if seen.during.end is None else min(part.end, seen.during.end))
    y = min(scale.y(tight.after) - 4, scale.y(tight.usable) - 2) if tight.left >= 0 else scale.y(tight.after)
    y = max(y, TOP + 4)
    text = (
        _("tightest: %(count)s left") % {"count": number(tight.left)}
        if tight.left >= 0
        else _("%(count)s too many") % {"count": number(-tight.left)}
    )
    half = 46
    middle = min(max((x1 + x2) / 2, LEFT + half), WIDTH - RIGHT - half)
    return format_html(
        '<line class="chart-tight" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="chart-tight-word{}" x="{}" y="{}">{}</text>',
        _figure(x1),
        _figure(max(x2, x1 + 2)),
        _figure(y),
        _figure(y),
        "" if tight.left >= 0 else " is-bad",
        _figure(middle),
        _figure(max(y - 6, 10)),
        text,
    )


def _grid(scale: _Scale) -> SafeString:
    lines = (
        format_html(
            '<line class="chart-grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
            '<text class="chart-mark is-end" x="{}" y="{}">{}</text>',
            LEFT,
            WIDTH - RIGHT,
            _figure(scale.y(mark)),
            _figure(scale.y(mark)),
            LEFT - 6,
            _figure(scale.y(mark) + 4),
            number(mark),
        )
        for mark in scale.axis.marks
    )
    start: SafeString | str = ""
    if scale.axis.low:
        words = _("axis starts at %(amount)s") % {"amount": number(scale.axis.low)}
        place = (WIDTH - RIGHT - 6, HEIGHT - FOOT - 6)
        start = format_html('<text class="chart-mark is-end" x="{}" y="{}">{}</text>', *place, words)
    return _joined([*lines, start])


def _days(scale: _Scale) -> SafeString:
    """Midnights of the organisation, evenly apart."""
    first, last = local_day(scale.start), local_day(scale.end)
    width = next((days for days in DAY_WIDTHS if (last - first).days / days <= MOST_DAYS), DAY_WIDTHS[-1])
    days = [first + timedelta(days=index * width) for index in range((last - first).days // width + 1)]
    placed = [(scale.x(day_bounds(day).start), short_day(day)) for day in days]
    return format_html_join(
        "",
        '<line class="chart-day" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="chart-mark is-middle" x="{}" y="{}">{}</text>',
        (
            (_figure(x), _figure(x), HEIGHT - FOOT, HEIGHT - FOOT + 3, _figure(max(x, 18)), HEIGHT - 5, word)
            for x, word in placed
            if x <= WIDTH - RIGHT
        ),
    )


def _now(scale: _Scale, now: datetime) -> SafeString:
    x = _figure(scale.x(now))
    return format_html(
        '<line class="chart-now" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="chart-mark" x="{}" y="{}" dx="4">{}</text>',
        x,
        x,
        TOP - 8,
        HEIGHT - FOOT,
        x,
        TOP - 4,
        _("now"),
    )


def _words(scale: _Scale, stretches: Sequence[_Stretch]) -> SafeString:
    """What the levels are at the right edge, from the top down and never on top of each other."""
    last = stretches[-1].step
    wanted = [
        (scale.y(last.owned), "", _("owned %(count)s") % {"count": number(last.owned)}),
        (scale.y(last.usable), " is-strong", _("usable %(count)s") % {"count": number(last.usable)}),
        (scale.y(last.promised), "", _("promised %(count)s") % {"count": number(last.promised)}),
    ]
    if last.reserve:
        middle = (scale.y(last.owned) + scale.y(last.usable)) / 2
        wanted.insert(1, (middle, "", _("reserve %(count)s") % {"count": number(last.reserve)}))
    rows = ((WIDTH - RIGHT + 8, _figure(y + 4), strong, word) for y, strong, word in _apart(wanted))
    texts = ((strong, x, y, word) for x, y, strong, word in rows)
    return format_html_join("", '<text class="chart-mark{}" x="{}" y="{}">{}</text>', texts)


def _apart(wanted: Iterable[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Moved down where two would meet, then up again from the lower edge."""
    placed: list[tuple[float, str, str]] = []
    for y, strong, word in sorted(wanted, key=lambda row: row[0]):
        placed.append((max(y, placed[-1][0] + LINE) if placed else y, strong, word))
    most = float(HEIGHT - FOOT)
    for index in range(len(placed) - 1, -1, -1):
        y, strong, word = placed[index]
        placed[index] = (min(y, most), strong, word)
        most = placed[index][0] - LINE
    return placed


def _joined(parts: Iterable[SafeString | str]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def _figure(value: float) -> str:
    return f"{value:.1f}"
