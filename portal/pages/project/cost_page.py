"""What a project has cost, month by month and by GPU model, as a page and as a file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.downloads import attachment
from kernel.intervals import Interval
from kernel.spreadsheet import CSV, Cell, csv_of
from portal.pages.cost import Spent, spent_by_period
from portal.pages.project.hours import hours_of
from portal.pages.project.pace import at_this_pace
from projects.views.frame import framed, opened
from scheduling.metering import milli_gpu_seconds
from scheduling.models import DeviceAllocation
from scheduling.selectors.pieces import Piece, pieces_between
from scheduling.selectors.usage import MILLI_SECONDS_PER_GPU_HOUR

MOST_MONTHS = 36


@dataclass(frozen=True, slots=True)
class ModelCost:
    gpu_model: str
    spent: Spent
    amounts: Sequence[Decimal | None]
    """In the order of the page's currencies; None: nothing in this one."""


@dataclass(frozen=True, slots=True)
class MonthCost:
    """``simulated_hours`` cost nothing and are told apart."""

    first: date
    is_running: bool
    spent: Spent
    amounts: Sequence[Decimal | None]
    models: Sequence[ModelCost]
    simulated_hours: float


@dataclass(frozen=True, slots=True)
class Costs:
    """Newest month first."""

    months: Sequence[MonthCost]
    currencies: Sequence[str]
    whole: Spent
    amounts: Sequence[Decimal | None]
    simulated_hours: float


@require_GET
def cost(request: HttpRequest, project_id: int) -> HttpResponse:
    """The page at ``/projects/<id>/cost``."""
    detail = opened(request, project_id)
    costs = costs_of(project_id)
    running = costs.months[0] if costs.months else None
    context = {
        **framed(request, detail, "cost"),
        "costs": costs,
        "hours": hours_of(project_id),
        "running": running,
        "pace": at_this_pace(running.spent, running.first) if running and running.is_running else {},
    }
    return render(request, "portal/project/cost.html", context)


@require_GET
def cost_csv(request: HttpRequest, project_id: int) -> HttpResponse:
    """``/projects/<id>/cost/csv``: a line for each month, GPU model and currency; what has no price on its own line."""
    opened(request, project_id)
    return attachment(csv_of(_lines(costs_of(project_id))), CSV, f"cost-{project_id}.csv")


def _lines(costs: Costs) -> Iterator[list[Cell]]:
    yield ["month", "gpu_model", "gpu_hours", "gpu_hours_without_price", "cost", "currency"]
    for month in costs.months:
        for model in month.models:
            start: list[Cell] = [month.first.strftime("%Y-%m"), model.gpu_model, round(model.spent.gpu_hours, 4)]
            unpriced = round(model.spent.unpriced_hours, 4)
            for currency, money in sorted(model.spent.amounts.items()):
                yield [*start, unpriced, round(money, 4), currency]
            if not model.spent.amounts:
                yield [*start, unpriced, None, None]


def costs_of(project_id: int) -> Costs:
    """Every month since the first use, at most three years back. Four statements."""
    now = clock.now()
    held = DeviceAllocation.objects.filter(member__attempt__job__project=project_id).order_by("allocated_at")
    begun = held.values_list("allocated_at", flat=True).first()
    months = _months(local_day(begun), local_day(now)) if begun else []
    if not months:
        return Costs([], [], Spent(), [], 0.0)
    periods = [Interval(day_bounds(first).start, day_bounds(_next(first)).start) for first in months]
    periods[-1] = Interval(periods[-1].start, max(now, periods[-1].start + timedelta(seconds=1)))
    pieces = pieces_between(periods[0].start, now, [project_id])
    names = dict(GpuModel.objects.values_list("pk", "name"))
    return _told(pieces, list(zip(months, periods, strict=True)), names)


def _told(pieces: Sequence[Piece], months: Sequence[tuple[date, Interval]], names: dict[int, str]) -> Costs:
    spent = spent_by_period(pieces, [period for _first, period in months], lambda piece: piece.gpu_model)
    whole = Spent()
    for part in spent.values():
        whole.include(part)
    currencies, simulated = sorted(whole.amounts), _simulated(pieces, [period for _first, period in months])
    rows = []
    for first, period in reversed(months):
        models = sorted((names.get(pk, str(pk)), part) for (start, pk), part in spent.items() if start == period.start)
        total = Spent()
        for _name, part in models:
            total.include(part)
        told = [ModelCost(name, part, in_order(part, currencies)) for name, part in models]
        is_running = first == months[-1][0]
        hours = simulated.get(period.start, 0) / MILLI_SECONDS_PER_GPU_HOUR
        rows.append(MonthCost(first, is_running, total, in_order(total, currencies), told, hours))
    return Costs(rows, currencies, whole, in_order(whole, currencies), sum(row.simulated_hours for row in rows))


def in_order(spent: Spent, currencies: Iterable[str]) -> list[Decimal | None]:
    return [spent.amounts.get(currency) for currency in currencies]


def _simulated(pieces: Iterable[Piece], periods: Sequence[Interval]) -> dict[datetime, int]:
    sums: dict[datetime, int] = {}
    for piece in pieces:
        for period in periods if piece.is_simulated else ():
            begin, until = max(piece.start, period.start), min(piece.until, period.end or piece.until)
            if begin < until:
                spent = milli_gpu_seconds(piece.milli, piece.allocated_at, begin, until)
                sums[period.start] = sums.get(period.start, 0) + spent
    return sums


def _months(begun: date, today: date) -> list[date]:
    """First days of the months from that of the first use to this one."""
    last = today.replace(day=1)
    months = [last]
    while months[0] > begun.replace(day=1) and len(months) < MOST_MONTHS:
        months.insert(0, (months[0] - timedelta(days=1)).replace(day=1))
    return months


def _next(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)
