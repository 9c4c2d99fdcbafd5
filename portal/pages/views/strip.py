"""The tabs over the table: the ways of looking that everybody has, one's own views, and the rest in a menu."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.pages.table.address import FILTERS
from portal.pages.table.canonical import SHOWN, canonical
from portal.pages.table.counting import count
from portal.pages.table.heads import Pairs, pairs_of
from portal.pages.table.table import Table
from portal.pages.views.address import NO_VIEW, Opened
from portal.pages.views.selectors import ViewRow
from projects.models import Tier
from projects.states import ProjectState

MOST_TABS = 3
"""One's own views that stand as tabs; more would push each other off the line."""


@dataclass(frozen=True, slots=True)
class Tab:
    """``view`` is the saved view that it opens, if it opens one."""

    url: str
    label: str
    count: int | None
    is_current: bool
    view: ViewRow | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """``query`` is the address as a view would keep it; ``is_new`` where neither a tab nor a view shows the same."""

    tabs: Sequence[Tab]
    mine: Sequence[Tab]
    shared: Sequence[Tab]
    current: ViewRow | None
    query: str
    is_modified: bool
    is_new: bool
    gone: Sequence[str] = field(default_factory=list)

    @property
    def folded(self) -> int:
        return len(self.mine) + len(self.shared)


def strip(here: Opened, table: Table) -> Strip:
    """The tabs of an address, counted from the rows that are here anyway."""
    query = canonical(here.query)
    fixed = _fixed(here, table)
    current = here.view or _same(here.views, query, is_fixed=any(tab.is_current for tab in fixed))
    tabs = [_view_tab(row, table, is_current=current is not None and row.pk == current.pk) for row in here.views]
    mine = [tab for tab in tabs if tab.view and tab.view.is_mine]
    shown = [*fixed, *mine[:MOST_TABS]]
    if current is not None and not any(tab.is_current for tab in shown):
        shown.append(_view_tab(current, table, is_current=True))
    return Strip(
        tabs=shown,
        mine=mine[MOST_TABS:],
        shared=[tab for tab in tabs if tab.view and not tab.view.is_mine],
        current=current,
        query=query,
        is_modified=here.is_modified,
        is_new=here.is_modified or (current is None and not any(tab.is_current for tab in fixed)),
        gone=here.gone,
    )


def _fixed(here: Opened, table: Table) -> list[Tab]:
    """The ways that everybody has. From one to another the columns stay; a view's own columns stay with it."""
    ended = (ProjectState.DRAFT, ProjectState.REJECTED, ProjectState.CLOSED)
    ways: tuple[tuple[str, Pairs], ...] = (
        (_("All projects"), []),
        (_("High tier"), [("tier", str(Tier.HIGH))]),
        (_("Milestone late"), [("late", "true")]),
        (_("Drafts and ended"), [("state", str(state)) for state in ended]),
    )
    filters = sorted((key, value) for key, value in pairs_of(here.query) if key in FILTERS and value)
    kept = [] if here.view else pairs_of(here.query, {"page", "ids", "view", *FILTERS})
    opens_elsewhere = any(row.is_default for row in here.views)
    tabs = []
    for label, wanted in ways:
        asked = [*wanted, *kept]
        if not any(key in SHOWN for key, _value in asked) and opens_elsewhere:
            asked = [("view", NO_VIEW)]
        is_current = here.view is None and sorted(wanted) == filters
        tabs.append(Tab(_url(asked), label, _count(table, wanted), is_current))
    return tabs


def _view_tab(row: ViewRow, table: Table, *, is_current: bool) -> Tab:
    wanted = count(table.everything, QueryDict(row.query), table.at.today)
    return Tab(_url([("view", str(row.pk))]), row.name, wanted, is_current, row)


def _same(views: Sequence[ViewRow], query: str, *, is_fixed: bool) -> ViewRow | None:
    """A view that keeps exactly this address, where no usual tab shows the same."""
    return None if is_fixed else next((row for row in views if row.query == query), None)


def _count(table: Table, wanted: Pairs) -> int | None:
    return count(table.everything, QueryDict(urlencode(wanted)), table.at.today)


def _url(pairs: Pairs) -> str:
    address = reverse("projects:list")
    return f"{address}?{urlencode(pairs, safe=',:')}" if pairs else address
