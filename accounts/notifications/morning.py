"""The organisation's morning, when the daily digest leaves; right on the days on which clocks change."""

from datetime import UTC, date, datetime, timedelta

from django.conf import settings

from kernel.calendar import local_day, organisation_zone


def morning_of(day: date) -> datetime:
    """The morning of the organisation's day, in UTC. A time that the day lacks counts from the hour before the gap."""
    return datetime.combine(day, settings.DIGEST_TIME, organisation_zone()).astimezone(UTC)


def next_morning(now: datetime) -> datetime:
    """The first morning after this instant: what is told at the very morning waits for the next."""
    today = morning_of(local_day(now))
    return today if now < today else morning_of(local_day(now) + timedelta(days=1))


def this_morning(now: datetime) -> datetime | None:
    """The morning of this day if it has come; before it no digest leaves."""
    today = morning_of(local_day(now))
    return today if today <= now else None
