"""The organisation's time zone: days of caps, bills, reports and screens begin and end in it."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings

from kernel.intervals import Interval


def organisation_zone() -> ZoneInfo:
    return ZoneInfo(settings.ORGANISATION_TIME_ZONE)


FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
"""Nothing of ours happens beyond them, and the arithmetic of instants ends near."""


def day_bounds(day: date) -> Interval:
    """The organisation's day as an interval in UTC; 23 or 25 hours long when clocks change.

    A day that is written before 1970 or after 9998 counts as that edge.
    """
    zone = organisation_zone()
    day = min(max(day, FIRST_DAY), LAST_DAY)
    start = datetime.combine(day, time.min, zone)
    end = datetime.combine(day + timedelta(days=1), time.min, zone)
    return Interval(start.astimezone(UTC), end.astimezone(UTC))


def local_day(at: datetime) -> date:
    """The organisation's calendar day at this instant."""
    return at.astimezone(organisation_zone()).date()
