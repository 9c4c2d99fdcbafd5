"""What the address of the table says: columns, order and filters. What is not allowed is refused by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from kernel.errors import Invalid
from kernel.ids import id_in
from kernel.problem import flatten
from portal.pages.table.columns import DEFAULT, GROUPS, NAME, ORDER, SINGLE, Column, by_model
from portal.pages.table.rows import Row
from projects.filters import ProjectFilter
from projects.models import Membership, Milestone, Project, ProjectRole, ResearchArea
from projects.selectors import with_facts
from quotas.models import Resource
from quotas.selectors import live_claims

FILTERS = ("q", "state", "stage", "tier", "kind", "area", "lead", "model", "late")
MOST_IDS = 500
MOST_SORT_KEYS = 10
USUAL_SORT: tuple[tuple[Column, bool], ...] = ((SINGLE["used"], True),)
"""What stands first where the address names no order: who uses most, so that the organisation is seen at a glance."""


class TableFilter(ProjectFilter):
    """What the registry's list may be narrowed by, and by what only rooms above know."""

    area = django_filters.ModelMultipleChoiceFilter(
        queryset=ResearchArea.objects.all(), field_name="area__name", to_field_name="name"
    )
    lead = django_filters.CharFilter(method="led_by", label="User name of a lead")
    model = django_filters.ModelMultipleChoiceFilter(
        queryset=GpuModel.objects.all(), to_field_name="name", method="with_quota", label="GPU model with a quota"
    )
    late = django_filters.ChoiceFilter(
        choices=[("true", "yes"), ("false", "no")], method="is_late", label="A milestone is overdue"
    )

    def led_by(self, rows: QuerySet[Project], name: str, value: str) -> QuerySet[Project]:
        leads = Membership.objects.filter(project=OuterRef("pk"), role=ProjectRole.LEAD, left_at__isnull=True)
        return rows.filter(Exists(leads.filter(person__username__iexact=value)))

    def with_quota(self, rows: QuerySet[Project], name: str, value: Sequence[GpuModel]) -> QuerySet[Project]:
        if not value:
            return rows
        held = live_claims().filter(resource=Resource.GPU, gpu_model__in=value, during__contains=clock.now())
        return rows.filter(Exists(held.filter(project=OuterRef("pk"))))

    def is_late(self, rows: QuerySet[Project], name: str, value: str) -> QuerySet[Project]:
        late = Milestone.objects.filter(project=OuterRef("pk"), met_on__isnull=True, due_on__lt=local_day(clock.now()))
        return rows.filter(Exists(late)) if value == "true" else rows.exclude(Exists(late))


@dataclass(frozen=True, slots=True)
class Asked:
    """``columns`` are choices of ``columns.ORDER`` from the left, ``sort`` its columns with their direction."""

    columns: tuple[str, ...]
    sort: tuple[tuple[Column, bool], ...]
    is_usual_order: bool
    """The address names no order: most used first, where figures of GPUs are shown, else by name."""
    ids: frozenset[int]
    """Only these of what is seen; empty: all."""
    is_filtered: bool

    @property
    def sort_keys(self) -> tuple[tuple[str, bool], ...]:
        return tuple((column.key, is_down) for column, is_down in self.sort)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset((_needs(self.columns) | {column.need for column, _down in self.sort}) - {""})


def read(query: QueryDict) -> Asked:
    """Raises ``Invalid`` for a column or sort key that is not allowed."""
    is_filtered = any(query.get(key) for key in FILTERS)
    columns, named = _columns(query), tuple(_sort(query.get("sort", "")))
    # Nobody is shown an order whose reason is not on the screen, and nothing is asked for only to sort by it.
    usual = USUAL_SORT if "quota" in _needs(columns) else ()
    return Asked(columns, named or usual, not named, _ids(query), is_filtered)


def narrowed(query: QueryDict, visible: QuerySet[Project]) -> QuerySet[Project]:
    """The projects that fit the filters. Raises ``Invalid`` naming every value that is not allowed."""
    found = TableFilter(query, queryset=with_facts(visible))
    if not found.is_valid():
        raise Invalid(flatten(found.errors))
    rows: QuerySet[Project] = found.qs
    return rows


def in_order(rows: list[Row], sort: Sequence[tuple[Column, bool]]) -> list[Row]:
    """By the first key, then the next, then the name; what has no value comes last whatever the direction."""
    rows = sorted(rows, key=lambda row: (row.facts["name"].casefold(), row.pk))
    for column, is_down in reversed(sort):
        known = [row for row in rows if column.sort_key(row) is not None]
        unknown = [row for row in rows if column.sort_key(row) is None]
        rows = [*sorted(known, key=column.sort_key, reverse=is_down), *unknown]
    return rows


def _needs(columns: Sequence[str]) -> set[str]:
    return {SINGLE[key].need if key in SINGLE else "quota" for key in columns}


def _columns(query: QueryDict) -> tuple[str, ...]:
    """``columns=used,tier`` in the order as written; named one by one, as boxes that are ticked, in the usual one."""
    lists = [[key for key in part.split(",") if key] for part in query.getlist("columns")]
    asked = list(dict.fromkeys(key for part in lists for key in part))
    for key in asked:
        if key not in ORDER:
            raise Invalid({"columns": _refusal(key, ORDER)})
    if len(lists) > 1:
        asked.sort(key=ORDER.index)
    return tuple(asked) or DEFAULT


def _sort(asked: str) -> list[tuple[Column, bool]]:
    """Each column once: what was sorted by before decides nothing a second time."""
    terms: dict[str, tuple[Column, bool]] = {}
    for part in [part for part in asked.split(",") if part][:MOST_SORT_KEYS]:
        key = part.removeprefix("-")
        terms.setdefault(key, (_sort_column(key), part.startswith("-")))
    return list(terms.values())


def _sort_column(key: str) -> Column:
    group, _colon, gpu_model = key.partition(":")
    if key == NAME.key:
        return NAME
    if group in GROUPS and gpu_model:
        return by_model(group, gpu_model)
    if key not in SINGLE:
        raise Invalid({"sort": _refusal(key, [NAME.key, *SINGLE, *(f"{name}:H100" for name in GROUPS)])})
    return SINGLE[key]


def _ids(query: QueryDict) -> frozenset[int]:
    asked = query.getlist("ids")
    found = [pk for raw in asked if (pk := id_in(raw)) is not None]
    if len(asked) > MOST_IDS or len(found) != len(asked):
        raise Invalid({"ids": _("At most %(most)s whole numbers are allowed.") % {"most": MOST_IDS}})
    return frozenset(found)


def _refusal(key: str, allowed: Sequence[Any]) -> str:
    text = _("“%(key)s” is not one of: %(allowed)s.")
    return text % {"key": key[:60], "allowed": ", ".join(allowed)}
