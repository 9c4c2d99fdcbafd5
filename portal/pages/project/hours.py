"""GPU-hours of a project by day, as columns."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kernel import clock
from kernel.calendar import local_day
from kernel.formats import gpu_hours, short_day
from kernel.looks import model_class, model_title
from portal.pages.columns import Day, Part, day_columns
from scheduling.selectors import DayUsage, gpu_hours_by_day

DAYS = 14


@dataclass(frozen=True, slots=True)
class Hours:
    columns: SafeString
    total: str
    models: list[str]
    is_simulated: bool


def hours_of(project_id: int) -> Hours:
    """The last days as columns; a day without use is an empty place: the ledger knows that it was zero."""
    today = local_day(clock.now())
    usage = gpu_hours_by_day(today - timedelta(days=DAYS - 1), today, [project_id])
    return Hours(
        _columns(usage, today),
        gpu_hours(sum(day.gpu_hours for day in usage)),
        sorted({day.gpu_model for day in usage}),
        any(day.is_simulated for day in usage),
    )


def _columns(usage: list[DayUsage], today: date) -> SafeString:
    hours: dict[date, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for day in usage:
        hours[day.day][day.gpu_model] += day.gpu_hours
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    total = gpu_hours(sum(day.gpu_hours for day in usage))
    words = _("GPU-hours per day over %(days)s days, %(total)s together") % {"days": DAYS, "total": total}
    return day_columns([_day(day, hours[day], today) for day in days], label=words)


def _day(day: date, hours: dict[str, float], today: date) -> Day:
    """The month is said where it begins, and under today."""
    written = short_day(day)
    parts = tuple(
        Part(amount, model_class(model), f"{written}, {model_title(model)}: {gpu_hours(amount)}")
        for model, amount in sorted(hours.items())
        if amount > 0
    )
    is_first = day.day == 1 or day == today - timedelta(days=DAYS - 1) or day == today
    return Day(written if is_first else str(day.day), parts, gpu_hours(sum(hours.values())), day == today)
