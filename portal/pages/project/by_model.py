"""A project's allotment, one row per GPU model: held and promised, utilisation lately, cost of this month."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.errors import NotFound
from kernel.intervals import Interval
from monitoring.selectors.days import Days, models_days
from monitoring.services import retention
from portal.pages.allotment import Allotment, Allotments, allotments
from portal.pages.cost import Cost, Spent, spent_by
from projects.policies import visible_to
from projects.suitability import Suitability, suitability_of
from scheduling.selectors.pieces import Piece, pieces_between

MOST_BACK = timedelta(days=14)
"""How far back utilisation is shown; less where samples are not kept so long."""
KEPT_S = 300
"""So long a utilisation over days is current enough to be told again."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """``cost`` None: no time on real GPUs this month. ``days`` None: none of this model was held.
    ``suitability`` None: not asked for yet."""

    held: Allotment
    cost: Cost | None
    days: Days | None
    suitability: Suitability | None


@dataclass(frozen=True, slots=True)
class Month:
    """What a project's use costs this month. ``simulated``: some of its time was on devices that cost nothing."""

    first: date
    today: date
    by_model: dict[int, Spent]
    whole: Spent
    has_simulated: bool

    @property
    def currencies(self) -> list[str]:
        return sorted(self.whole.amounts)

    @property
    def single_currency(self) -> str:
        """Stands once in the head where there is one only."""
        return self.currencies[0] if len(self.currencies) == 1 else ""


@dataclass(frozen=True, slots=True)
class ByModel:
    """All rows with their sums. Without ``has_days`` the utilisation has not been asked for yet."""

    held: Allotments
    rows: Sequence[ModelRow]
    month: Month
    has_days: bool
    mean_pct: float | None
    back: timedelta
    """How far back the utilisation reaches."""

    @property
    def over(self) -> list[Allotment]:
        """Models on which jobs run above the guarantee, on what is idle."""
        return [row.held for row in self.rows if row.held.is_over]


@require_GET
def part(request: HttpRequest, project_id: int) -> HttpResponse:
    """``/projects/<id>/allotment``: the table again, with utilisation, for htmx. Ten statements."""
    if not visible_to(require_signed_in(request.user)).filter(pk=project_id).exists():
        raise NotFound
    context = {"by_model": by_model(project_id, month_of(project_id), with_days=True)}
    return render(request, "portal/project/_allotment.html", context)


def month_of(project_id: int) -> Month:
    """Two statements: the pieces of time and the prices of their nodes."""
    now = clock.now()
    first = local_day(now).replace(day=1)
    within = Interval(day_bounds(first).start, now)
    return month_from(pieces_between(within.start, now, [project_id]), within, first)


def no_month() -> Month:
    """Of a project that was never approved: nothing was used and nothing cost."""
    today = local_day(clock.now())
    return Month(today.replace(day=1), today, {}, Spent(), has_simulated=False)


def month_from(pieces: Sequence[Piece], within: Interval, first: date) -> Month:
    by_model_id = spent_by(pieces, within, lambda piece: piece.gpu_model)
    whole = Spent()
    for spent in by_model_id.values():
        whole.include(spent)
    return Month(first, local_day(clock.now()), by_model_id, whole, any(piece.is_simulated for piece in pieces))


def by_model(project_id: int, month: Month, *, with_days: bool) -> ByModel:
    """Three statements, three more for utilisation and suitability."""
    names = dict(GpuModel.objects.values_list("pk", "name"))
    held = allotments([project_id], names)[project_id]
    models = {name: pk for pk, name in names.items()}
    days = days_of(project_id) if with_days else {}
    suits = {pk: suits for (_project, pk), suits in suitability_of([project_id]).items()} if with_days else {}
    known = {row.gpu_model for row in held.rows}
    # What was used and is neither held nor promised any more keeps its row as long as it costs or shows something.
    past = {name for name, pk in models.items() if (pk in month.by_model or pk in days) and name not in known}
    rows = [*held.rows, *(Allotment(name, 0, 0, 0) for name in sorted(past))]
    return ByModel(
        held,
        [_row(row, models.get(row.gpu_model, 0), month, days, suits) for row in rows],
        month,
        with_days,
        _mean(days),
        looked_back(),
    )


def _row(
    held: Allotment, pk: int, month: Month, days: Mapping[int, Days], suits: Mapping[int, Suitability]
) -> ModelRow:
    spent = month.by_model.get(pk)
    return ModelRow(held, spent.cost if spent else None, days.get(pk), suits.get(pk))


def _mean(days: dict[int, Days]) -> float | None:
    """Every reading weighs alike, whatever its model."""
    known = [(day.mean_pct, day.readings) for day in days.values() if day.mean_pct is not None]
    count = sum(readings for _mean, readings in known)
    return sum(mean * readings for mean, readings in known) / count if count else None


def looked_back() -> timedelta:
    return min(MOST_BACK, retention())


def days_of(project_id: int) -> dict[int, Days]:
    """By GPU model, from the cache where it was asked within minutes."""
    key = f"project-days:{project_id}"
    kept = cache.get(key)
    if not isinstance(kept, dict):
        now = clock.now()
        found = models_days([project_id], now - looked_back(), now)
        kept = {str(model): [days.values, days.mean_pct, days.readings] for (_project, model), days in found.items()}
        cache.set(key, kept, KEPT_S)
    return {int(model): Days(*plain) for model, plain in kept.items()}
