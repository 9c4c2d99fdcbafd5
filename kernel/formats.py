"""How quantities are written on screens: pure functions, the same in pages, mails and exports."""

import math
from datetime import date, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

# Narrow no-break space: groups digits and keeps a number and its unit on one line.
THIN_SPACE = "\u202f"
LEAST_GPU_HOURS = 0.01
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def number(value: float | Decimal, decimals: int = 0) -> str:
    """Group digits by three with a thin space: 128 741."""
    if isinstance(value, int) and decimals == 0:
        # Of any length: what somebody typed is told back to them.
        return f"{value:,}".replace(",", THIN_SPACE)
    step = Decimal(1).scaleb(-decimals)
    rounded = Decimal(str(value)).quantize(step, rounding=ROUND_HALF_UP)
    if rounded == 0:
        rounded = abs(rounded)
    return f"{rounded:,f}".replace(",", THIN_SPACE)


def gpu_hours(value: float | Decimal) -> str:
    """GPU-hours without false precision: whole hours from ten on, one decimal below, two figures below one.

    What has begun is never nothing: less than half a minute on one GPU is said to be under a hundredth.
    """
    amount = float(value)
    if 0 < amount < LEAST_GPU_HOURS:
        return _("< %(least)s") % {"least": LEAST_GPU_HOURS}
    if 0 < amount < 1:
        return number(value, 1 - math.floor(math.log10(amount)))
    return number(value, 1 if 0 < abs(amount) < 10 else 0)


def byte_size(value: float) -> str:
    """Bytes in the largest binary unit that keeps a whole part: 80 GiB, 1.5 TiB."""
    amount, unit = float(value), 0
    while abs(amount) >= 1024 and unit < len(_BINARY_UNITS) - 1:
        amount /= 1024
        unit += 1
    is_whole = unit == 0 or abs(amount) >= 100 or amount == int(amount)
    return f"{number(amount, 0 if is_whole else 1)}{THIN_SPACE}{_BINARY_UNITS[unit]}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units: 3 h 20 m; seconds only under a minute."""
    total = int(abs(seconds))
    sign = "-" if seconds < 0 and total else ""
    if total < _MINUTE:
        return sign + _("%(count)s s") % {"count": total}
    if total < _HOUR:
        return sign + _("%(count)s m") % {"count": total // _MINUTE}
    if total < _DAY:
        hours, minutes = total // _HOUR, total % _HOUR // _MINUTE
        words = [_("%(count)s h") % {"count": hours}]
        if minutes:
            words.append(_("%(count)s m") % {"count": minutes})
        return sign + " ".join(words)
    days, hours = total // _DAY, total % _DAY // _HOUR
    words = [_("%(count)s d") % {"count": number(days)}]
    if hours:
        words.append(_("%(count)s h") % {"count": hours})
    return sign + " ".join(words)


def exact_instant(at: datetime, zone: tzinfo) -> str:
    """An instant to the second with the zone's offset, for the title of a relative time."""
    return _with_offset(at.astimezone(zone), pgettext("date format", "D j F Y, H:i:s"))


def said_instant(at: datetime, zone: tzinfo) -> str:
    """The same to the minute, for a sentence that is read later or elsewhere."""
    return _with_offset(at.astimezone(zone), pgettext("date format", "D j F Y, H:i"))


def _with_offset(local: datetime, pattern: str) -> str:
    offset = local.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    written = "UTC" if not minutes else f"UTC{minutes // 60 if minutes > 0 else -(-minutes // 60):+d}"
    if minutes % 60:
        written += f":{abs(minutes) % 60:02d}"
    return f"{formats.date_format(local, pattern)} {written}"


def short_instant(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Day and time to the second for a column of records; the year only where it is not this one."""
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.year == today.year:
        return formats.date_format(local, pgettext("date format", "j M, H:i:s"))
    return formats.date_format(local, pgettext("date format", "j M Y, H:i:s"))


def coming_instant(at: datetime, now: datetime, zone: tzinfo) -> str:
    """An instant near now, to the minute: the time alone on this day, else with its day of the week."""
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return local.strftime("%H:%M")
    return formats.date_format(local, pgettext("date format", "D j M, H:i"))


def day(value: date) -> str:
    """3 Oct 2026."""
    return formats.date_format(value, pgettext("date format", "j M Y"))


def short_day(value: date) -> str:
    """3 Oct, where the year is plain."""
    return formats.date_format(value, pgettext("date format", "j M"))


def full_day(value: date) -> str:
    """Saturday 3 October 2026."""
    return formats.date_format(value, pgettext("date format", "l j F Y"))


def month(value: date) -> str:
    """October 2026."""
    return formats.date_format(value, pgettext("date format", "F Y"))


def month_name(value: date) -> str:
    """October, where the year is plain."""
    return formats.date_format(value, pgettext("date format", "F"))


def relative_instant(at: datetime, now: datetime, zone: tzinfo) -> str:
    """How long ago or until: minutes and hours within a day, days within a month, else the date."""
    seconds = (now - at).total_seconds()
    length = abs(seconds)
    if length < _MINUTE:
        return _("just now") if seconds >= 0 else _("in under a minute")
    if length >= 30 * _DAY:
        local, today = at.astimezone(zone), timezone.localtime(now, zone)
        return short_day(local) if local.year == today.year else day(local)
    words = _short_length(int(length))
    return (_("%(length)s ago") if seconds > 0 else _("in %(length)s")) % {"length": words}


def _short_length(seconds: int) -> str:
    if seconds < _HOUR:
        return _("%(count)s min") % {"count": seconds // _MINUTE}
    if seconds < _DAY:
        return _("%(count)s h") % {"count": seconds // _HOUR}
    return _("%(count)s d") % {"count": seconds // _DAY}
