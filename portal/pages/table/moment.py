"""When a table is shown."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Moment:
    """When and in which language the table is shown; asked once, not for every cell."""

    now: datetime
    today: date
    zone: tzinfo
    language: str
