"""``?from=&to=&step=``: which stretch of time, in which steps. Bounded."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from kernel.errors import Invalid
from monitoring.engine.series import Window, default_step

MIN_STEP_S = 10
MAX_STEP_S = 86400
MAX_POINTS = 2000
LATEST = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
"""The arithmetic of instants ends a little later."""
MAX_VALUES = 100_000
"""Steps × series of one answer."""


def window_asked(asked: Mapping[str, str], *, start: datetime, end: datetime, series: int = 1) -> Window:
    """The window of a request for so many ``series``; ``start`` and ``end`` stand in for what it does not say.

    Raises ``Invalid`` naming the field, its value and what is allowed.
    """
    first = _instant(asked, "from") or start
    last = _instant(asked, "to") or max(end, min(first, LATEST) + timedelta(seconds=1))
    if last <= first:
        text = _("%(to)s is not after “from” (%(from)s)")
        raise Invalid({"to": text % {"to": last.isoformat(), "from": first.isoformat()}})
    seconds = (last - first).total_seconds()
    step_s = _step(asked) or default_step(seconds)
    allowed = min(MAX_POINTS, MAX_VALUES // max(series, 1))
    if seconds / step_s > allowed:
        text = _("%(step)s s gives %(count)s steps; at most %(most)s are allowed here")
        raise Invalid({"step": text % {"step": step_s, "count": f"{seconds / step_s:.0f}", "most": allowed}})
    return Window.covering(first, last, step_s)


def _instant(asked: Mapping[str, str], name: str) -> datetime | None:
    raw = asked.get(name)
    if not raw:
        return None
    with suppress(ValueError, OverflowError):
        # In an address, the plus of an offset arrives as a space.
        at = parse_datetime(raw.replace(" ", "+"))
        if at is not None and at.tzinfo is not None:
            return at.astimezone(UTC)
    text = _("“%(value)s” is not an instant with a time zone, such as 2026-06-09T12:00:00Z")
    raise Invalid({name: text % {"value": raw[:40]}})


def _step(asked: Mapping[str, str]) -> int | None:
    raw = asked.get("step")
    if not raw:
        return None
    digits = len(str(MAX_STEP_S))
    if not (raw.isascii() and raw.isdigit() and len(raw) <= digits and MIN_STEP_S <= int(raw) <= MAX_STEP_S):
        text = _("“%(value)s” is not a whole number of seconds from %(least)s to %(most)s")
        raise Invalid({"step": text % {"value": raw[:40], "least": MIN_STEP_S, "most": MAX_STEP_S}})
    return int(raw)
