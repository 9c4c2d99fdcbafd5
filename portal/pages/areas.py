"""The research areas as a tree, each with the projects that stand in it and what they are promised, use and cost."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role
from accounts.policies import has_role, require_signed_in
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from portal.pages.allotment import allotments
from portal.pages.cost import Spent, spent_by
from projects.models import ResearchArea
from projects.policies import SEES_ALL, visible_to
from projects.states import ProjectState
from quotas.models import Resource
from quotas.selectors import area_quotas_at
from scheduling.selectors.pieces import Piece, pieces_between

DEEPEST = 4
"""So many levels are set in; what lies deeper stands with the last."""


@dataclass(slots=True)
class Figures:
    """Whole GPUs. ``own`` is what the area itself is promised on top of its projects."""

    projects: int = 0
    active: int = 0
    guaranteed: int = 0
    own: int = 0
    used: float = 0.0
    spent: Spent = field(default_factory=Spent)

    @property
    def most(self) -> float:
        """Where its bar ends: an area has no limit of its own."""
        return max(self.used, self.guaranteed)

    def include(self, other: "Figures") -> None:
        self.projects += other.projects
        self.active += other.active
        self.guaranteed += other.guaranteed
        self.own += other.own
        self.used += other.used
        self.spent.include(other.spent)


@dataclass(frozen=True, slots=True)
class AreaRow:
    """``figures`` include the areas within; ``area`` None: projects that stand in no area."""

    area: ResearchArea | None
    depth: int
    figures: Figures


@require_GET
def areas(request: HttpRequest) -> HttpResponse:
    """The page at ``/projects/areas``: of those projects that the person may know of."""
    person = require_signed_in(request.user)
    own, has_simulated = _figures(person)
    rows = tree(list(ResearchArea.objects.select_related("parent").order_by("title", "pk")), own)
    whole = Figures()
    for figures in own.values():
        whole.include(figures)
    currencies = list(whole.spent.amounts)
    context: dict[str, Any] = {
        "rows": rows,
        "scale": max((row.figures.most for row in rows), default=1) or 1,
        "whole": whole,
        "currency": currencies[0] if len(currencies) == 1 else "",
        "month": local_day(clock.now()),
        "has_simulated": has_simulated,
        "sees_all": has_role(person, *SEES_ALL),
        "may_change": has_role(person, Role.ADMIN),
    }
    return render(request, "portal/areas.html", context)


def _figures(person: object) -> tuple[dict[int | None, Figures], bool]:
    """By area, without the areas within, and whether any time was on simulated devices. Eight statements."""
    found: dict[int | None, Figures] = defaultdict(Figures)
    area_of = dict(visible_to(person).values_list("pk", "area_id"))
    is_active = Count("pk", filter=Q(state=ProjectState.ACTIVE))
    counted = visible_to(person).order_by().values_list("area_id").annotate(count=Count("pk"), active=is_active)
    for area, count, active in counted:
        found[area].projects, found[area].active = count, active
    for project, held in allotments(area_of).items():
        found[area_of[project]].guaranteed += held.total.guaranteed
        found[area_of[project]].used += held.total.used
    if has_role(person, *SEES_ALL):
        for (area, resource, _model), quota in area_quotas_at(clock.now()).items():
            found[area].own += quota.guaranteed if resource == Resource.GPU else 0
    pieces, within = _this_month(area_of)
    for area, spent in spent_by(pieces, within, lambda piece: area_of[piece.project]).items():
        found[area].spent.include(spent)
    return found, any(piece.is_simulated for piece in pieces)


def _this_month(project_ids: Mapping[int, Any]) -> tuple[list[Piece], Interval]:
    now = clock.now()
    within = Interval(day_bounds(local_day(now).replace(day=1)).start, now)
    return pieces_between(within.start, now, list(project_ids)), within


def tree(found: Sequence[ResearchArea], own: Mapping[int | None, Figures]) -> list[AreaRow]:
    """Every area below the one it lies in, in order of their titles; at the end what stands in none."""
    below: dict[int | None, list[ResearchArea]] = defaultdict(list)
    for area in found:
        below[area.parent_id].append(area)
    rows = [row for area in below[None] for row in _branch(area, below, own, 0)]
    if None in own:
        rows.append(AreaRow(None, 0, own[None]))
    return rows


def _branch(
    area: ResearchArea, below: Mapping[int | None, list[ResearchArea]], own: Mapping[int | None, Figures], depth: int
) -> Iterator[AreaRow]:
    within = [list(_branch(child, below, own, depth + 1)) for child in below.get(area.pk, [])]
    figures = Figures()
    if area.pk in own:
        figures.include(own[area.pk])
    for branch in within:
        figures.include(branch[0].figures)
    yield AreaRow(area, min(depth, DEEPEST), figures)
    for branch in within:
        yield from branch
