"""What takes the GPUs on days that are tight: named where the reader may know of it, otherwise told without a name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.calendar import day_bounds
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from portal.pages.request.fit import DayFit, Fit, Run
from projects.policies import visible_to
from quotas.models import Claim, ClaimKind
from quotas.selectors import live_claims

MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Tight:
    """A stretch that does not fit. ``names``: projects the reader may see whose promises begin there."""

    run: Run
    names: tuple[str, ...]
    has_others: bool
    has_fewer: bool
    """Fewer GPUs count then than before."""

    @property
    def why(self) -> str:
        """Part of a sentence, or nothing where it has been so from the start."""
        others = [_("other promises")] if self.has_others else []
        fewer = [_("fewer GPUs that count")] if self.has_fewer else []
        return ", ".join([*self.names, *others, *fewer])


def tight_days(person: object, model: GpuModel, project_id: int, fit: Fit) -> list[Tight]:
    """Every stretch that does not fit, with what begins there. Two statements where there is one."""
    runs = fit.tight
    if not runs:
        return []
    span = Interval(day_bounds(runs[0].first).start, day_bounds(runs[-1].last).end)
    rows = live_claims().filter(gpu_model=model, during__overlap=to_range(span), guaranteed__gt=0)
    rows = rows.exclude(kind=ClaimKind.EMERGENCY).exclude(project=project_id).select_related("project")
    claims = list(rows.order_by("-guaranteed", "pk"))
    known = set(visible_to(person).values_list("pk", flat=True))
    return [_tight(run, claims, known, fit.days) for run in runs]


def _tight(run: Run, claims: Iterable[Claim], known: set[int], days: Sequence[DayFit]) -> Tight:
    start, end = day_bounds(run.first).start, day_bounds(run.last).end
    begins = [row for row in claims if end is not None and start <= to_interval(row.during).start < end]
    named = [row.project.name for row in begins if row.project is not None and row.project_id in known]
    shown = tuple(dict.fromkeys(named))[:MOST_NAMED]
    before = next((day for day in reversed(days) if day.day < run.first), None)
    worst = min((day for day in days if run.first <= day.day <= run.last), key=lambda day: day.usable)
    has_fewer = before is not None and worst.usable < before.usable
    has_others = len(set(named)) > len(shown) or len(named) < len(begins) or (not begins and not has_fewer)
    return Tight(run, shown, has_others, has_fewer)
