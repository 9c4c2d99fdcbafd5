"""Small pictures of one request. Pure: numbers in, SVG out; every text is escaped."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kernel import svg

SPARK_WIDTH = 260
TALL = 36
BAR_HEIGHT, TICK_HEIGHT = 12, 18


@dataclass(frozen=True, slots=True)
class Amounts:
    """GPUs of one model: in use, guaranteed now, asked for, and the limit; None: no limit."""

    used: float
    now: int
    asked: int
    limit: int | None

    @property
    def full(self) -> float:
        """What fills the bar."""
        most = max(self.used, self.now, self.asked, 1)
        return most * 4 / 3 if self.limit is None else max(self.limit, most)


def asked_bar(amounts: Amounts, *, label: str) -> SafeString:
    """Used in the model's hue, what is asked beyond it pale; ticks at what is guaranteed now and at what is asked."""
    share = 100 / amounts.full
    pale = max(amounts.used, amounts.asked) * share
    rects = (
        ("bar-track", 100.0),
        ("bar-asked", pale),
        ("bar-used", min(amounts.used * share, 100.0)),
    )
    ticks = (("bar-tick", amounts.now * share), ("bar-tick-asked", amounts.asked * share))
    top = (TICK_HEIGHT - BAR_HEIGHT) / 2
    return format_html(
        '<svg class="asked-bar is-fluid" width="100%" height="{}" role="img" aria-label="{}">{}{}</svg>',
        TICK_HEIGHT,
        label,
        format_html_join(
            "",
            '<rect class="{}" y="{}" width="{}%" height="{}" rx="2"/>',
            ((css, top, f"{width:.2f}", BAR_HEIGHT) for css, width in rects if width > 0),
        ),
        format_html_join(
            "",
            '<rect class="{}" x="{}%" width="2" height="{}" transform="translate(-1 0)"/>',
            ((css, f"{min(max(x, 0.4), 99.6):.2f}", TICK_HEIGHT) for css, x in ticks),
        ),
    )


def tall_spark(values: Sequence[float | None], *, label: str) -> SafeString:
    """A spark as wide as its place and higher than in a cell; gaps stay gaps."""
    return format_html(
        '<svg class="tall-spark" viewBox="0 0 {} {}" preserveAspectRatio="none" width="100%" height="{}">{}</svg>',
        SPARK_WIDTH,
        svg.SPARK_HEIGHT,
        TALL,
        svg.spark(values, label=label, width=SPARK_WIDTH),
    )
