"""Rows of the table. Only what the columns shown, sorted or summed by need is asked for."""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, JSONObject, NullIf

from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from monitoring.selectors.latest import Utilisation, projects_now
from portal.pages.allotment import Allotment, allotments
from portal.pages.cost import Cost, costs
from projects.models import Membership, Milestone, Project, ProjectRole
from projects.selectors import with_facts
from scheduling.metering import milli_gpu_seconds
from scheduling.selectors.pieces import Piece, pieces_between
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
    hours: float = 0.0
    cost: Cost | None = None

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


def complete(rows: list[Row], needs: Collection[str]) -> None:
    """Put on these rows what the needs name: quota, utilisation, hours, cost. At most seven statements."""
    ids = [row.pk for row in rows]
    if "quota" in needs:
        held = allotments(ids)
        for row in rows:
            row.models, row.total = {part.gpu_model: part for part in held[row.pk].rows}, held[row.pk].total
    if "utilisation" in needs:
        now = projects_now(ids)
        for row in rows:
            row.utilisation = now.get(row.pk)
    if not {"days", "hours", "cost"}.isdisjoint(needs):
        _spent(rows, needs)


def _spent(rows: list[Row], needs: Collection[str]) -> None:
    """GPU-hours by day and the cost of this month, both from the same pieces of time."""
    now = clock.now()
    today = local_day(now)
    back = HOURS_DAYS if "hours" in needs else SPARK_DAYS
    first, month = today - timedelta(days=back - 1), today.replace(day=1)
    start = day_bounds(min(first, month) if "cost" in needs else first).start
    pieces = pieces_between(start, now, [row.pk for row in rows])
    by_id = {row.pk: row for row in rows}
    _put_hours(by_id, pieces, first, today)
    if "cost" in needs:
        for pk, cost in costs(pieces, Interval(day_bounds(month).start, now)).items():
            by_id[pk].cost = cost


def _put_hours(rows: dict[int, Row], pieces: Iterable[Piece], first: date, today: date) -> None:
    """Sum the pieces by day; the days' bounds are asked once, not for every piece."""
    count = (today - first).days + 1
    edges = [day_bounds(first + timedelta(days=day)).start for day in range(count)]
    edges.append(day_bounds(today + timedelta(days=1)).start)
    spent = {pk: [0] * count for pk in rows}
    for piece in pieces:
        at, days = max(piece.start, edges[0]), spent[piece.project]
        day = bisect_right(edges, at) - 1
        while at < piece.until:
            until = min(piece.until, edges[day + 1])
            days[day] += milli_gpu_seconds(piece.milli, piece.allocated_at, at, until)
            at, day = until, day + 1
    for pk, days in spent.items():
        hours = [milli / MILLI_SECONDS_PER_GPU_HOUR for milli in days]
        rows[pk].days, rows[pk].hours = hours[-SPARK_DAYS:], sum(hours)
