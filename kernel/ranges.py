"""Between ``Interval`` of our code and the range columns of the database."""

from typing import Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from kernel.intervals import Interval


def to_range(interval: Interval) -> DateTimeTZRange:
    """The interval as a value of a ``DateTimeRangeField``: half-open, open end as unbounded."""
    return DateTimeTZRange(interval.start, interval.end, "[)")


def to_interval(value: Any) -> Interval:
    """A range read from the database. Our ranges always have a start; an empty one is a fault."""
    if value.isempty or value.lower is None:
        raise ValueError(f"not a dated fact: {value}")
    return Interval(value.lower, value.upper)
