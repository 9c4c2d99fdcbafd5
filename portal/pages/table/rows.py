"""Rows of the table. Only what the columns shown, sorted or summed by need is asked for."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, JSONObject, NullIf

from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from monitoring.selectors.latest import Utilisation, projects_now
from portal.pages.allotment import Allotment, allotments
from portal.pages.cost import Cost, spent_by
from projects.models import Membership, Milestone, Project, ProjectRole
from projects.selectors import with_facts
from scheduling.selectors import milli_by_day
from scheduling.selectors.pieces import pieces_between
from scheduling.selectors.usage import MILLI_SECONDS_PER_GPU_HOUR

SPARK_DAYS, HOURS_DAYS = 14, 30
NOTHING = Allotment("", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Lead:
    username: str
    name: str


@dataclass(slots=True)
class Row:
    """One project. ``facts`` is a row of the registry; the rest is empty unless a column needs it."""

    facts: dict[str, Any]
    leads: list[Lead]
    due_name: str = ""
    due_on: date | None = None
    models: dict[str, Allotment] = field(default_factory=dict)
    total: Allotment = NOTHING
    utilisation: Utilisation | None = None
    days: list[float] = field(default_factory=list)
    """GPU-hours by day, the last one today's so far."""
    means: list[float] = field(default_factory=list)
    """GPUs held on average on these days: today's is as high as yesterday's if nothing has changed."""
    hours: float = 0.0
    cost: Cost | None = None
    simulated_cost: Cost | None = None
    """What its time on simulated GPUs would have cost at the prices of their nodes. Never summed with ``cost``."""

    @property
    def pk(self) -> int:
        return int(self.facts["pk"])

    def is_late(self, today: date) -> bool:
        return self.due_on is not None and self.due_on < today


def registry_rows(visible: QuerySet[Project], matching: QuerySet[Project] | None) -> list[Row]:
    """Every visible project with its registry facts, and whether it matches, in one statement.

    All of them, because the tabs' counts, the total and the choices of the filters come from the same rows.
    """
    unmet = Milestone.objects.filter(project=OuterRef("pk"), met_on__isnull=True).order_by("due_on", "pk")
    leads = Membership.objects.filter(project=OuterRef("pk"), role=ProjectRole.LEAD, left_at__isnull=True)
    name = Coalesce(NullIf(F("person__display_name"), Value("")), F("person__username"))
    lead = JSONObject(username=F("person__username"), name=name)
    is_match: Any = Value(True) if matching is None else Q(pk__in=matching.order_by().values("pk"))
    rows = with_facts(visible).prefetch_related(None).order_by("pk")
    found = rows.annotate(
        is_match=ExpressionWrapper(is_match, output_field=BooleanField()),
        lead_list=ArraySubquery(leads.order_by("joined_at", "pk").values(found=lead)),
        next_due=Subquery(unmet.values(found=JSONObject(name="name", due_on="due_on"))[:1]),
    )
    return [_row(facts) for facts in found.values(*_FACTS)]


_FACTS = (
    "pk",
    "name",
    "state",
    "stage",
    "stage_rank",
    "kind",
    "area__name",
    "area__title",
    "tier_now",
    "tier_rank",
    "breakthrough",
    "members_count",
    "updated_at",
    "is_match",
    "lead_list",
    "next_due",
)


def _row(facts: dict[str, Any]) -> Row:
    due = facts["next_due"]
    row = Row(facts, [Lead(lead["username"], lead["name"]) for lead in facts["lead_list"]])
    if due:
        row.due_name, row.due_on = due["name"], date.fromisoformat(due["due_on"])
    return row


def complete(rows: list[Row], needs: Collection[str], models: dict[int, str]) -> None:
    """Put on these rows what the needs name: quota, utilisation, hours, cost. At most seven statements."""
    ids = [row.pk for row in rows]
    if "quota" in needs:
        held = allotments(ids, models)
        for row in rows:
            row.models, row.total = {part.gpu_model: part for part in held[row.pk].rows}, held[row.pk].total
    if "utilisation" in needs:
        seen = projects_now(ids)
        for row in rows:
            row.utilisation = seen.get(row.pk)
    now = clock.now()
    if not {"days", "hours"}.isdisjoint(needs):
        _put_hours(rows, local_day(now), now, HOURS_DAYS if "hours" in needs else SPARK_DAYS)
    if "cost" in needs:
        _put_costs(rows, local_day(now), now)


def _put_hours(rows: list[Row], today: date, now: datetime, back: int) -> None:
    """GPU-hours by day of so many days, today included."""
    spent = milli_by_day(today - timedelta(days=back - 1), today, [row.pk for row in rows])
    lengths = [_hours_of(today - timedelta(days=day), now) for day in range(SPARK_DAYS - 1, -1, -1)]
    for row in rows:
        hours = [milli / MILLI_SECONDS_PER_GPU_HOUR for milli in spent[row.pk]]
        row.days, row.hours = hours[-SPARK_DAYS:], sum(hours)
        row.means = [held / length for held, length in zip(row.days, lengths, strict=True)]


def _hours_of(day: date, now: datetime) -> float:
    """How long the day has lasted; of one that has just begun a minute."""
    bounds = day_bounds(day)
    until = min(bounds.end or now, now)
    return max((until - bounds.start).total_seconds(), 60.0) / 3600


def _put_costs(rows: list[Row], today: date, now: datetime) -> None:
    """What the month has cost so far, and what its simulations would have cost."""
    within = Interval(day_bounds(today.replace(day=1)).start, now)
    pieces = pieces_between(within.start, now, [row.pk for row in rows])
    found = spent_by(pieces, within, lambda piece: (piece.project, piece.is_simulated), with_simulated=True)
    for row in rows:
        real, simulated = found.get((row.pk, False)), found.get((row.pk, True))
        row.cost = real.cost if real else None
        row.simulated_cost = simulated.cost if simulated else None
