"""Fields that the rooms' serializers share."""

from zoneinfo import ZoneInfo

from rest_framework import serializers

from kernel.calendar import organisation_zone


class InstantField(serializers.DateTimeField):
    """An instant. Without a zone it is read in the organisation's; a time that its clocks skip is refused."""

    def default_timezone(self) -> ZoneInfo:
        return organisation_zone()
