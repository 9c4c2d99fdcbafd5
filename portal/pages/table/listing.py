"""The page of the table: tabs, filters as chips, choice of columns, sums and rows."""

from collections.abc import Sequence
from dataclasses import replace

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from accounts.models import Person, Role
from accounts.policies import has_role, require_signed_in
from portal.pages.table import columns
from portal.pages.table.address import FILTERS
from portal.pages.table.canonical import SHOWN
from portal.pages.table.chips import chips
from portal.pages.table.columns import DEFAULT
from portal.pages.table.heads import Head, address_of, heads, pairs_of
from portal.pages.table.table import Table
from portal.pages.views.address import Opened, open_table
from portal.pages.views.selectors import default_of
from portal.pages.views.strip import strip

PAGE_SIZE = 500


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """All projects that this person may know of; columns, filters and order stand in the address.

    An address that asks for nothing opens the view that the person chose, if they chose one.
    """
    person = require_signed_in(request.user)
    if not {*SHOWN, "view", "ids", "page"} & set(request.GET):
        default = default_of(person)
        if default is not None:
            return redirect(f"{reverse('projects:list')}?view={default}")
    here, table = open_table(person, request.GET)
    page = Paginator(table.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "body": table.body(list(page.object_list)),
        "sums": table.sums(),
        "total": len(table.everything),
        "has_simulated": table.has_simulated,
        "strip": strip(here, table),
        "chips": chips(here.query, table),
        "is_filtered": table.asked.is_filtered,
        "query": address_of(here.query, {"page", "ids"}),
        **_heads(here, table),
        **_carried(here),
        **_changes(person, table),
        "column_choices": _column_choices(table),
        "is_usual_columns": table.asked.columns == DEFAULT,
    }
    return render(request, "portal/projects.html", context)


def _heads(here: Opened, table: Table) -> dict[str, Sequence[Head | str] | bool]:
    """The heads, what the table is sorted by, and what it could be sorted by besides."""
    sort = list(table.asked.sort_keys)
    shown = [
        replace(head, css=f"{head.css} is-minor" if "is-minor" in table.css_of(column) else head.css)
        for head, column in zip(heads(table.columns, here.query, sort), table.columns, strict=True)
    ]
    labels = {head.key: head.label for head in shown}
    by = heads([column for column, _is_down in table.asked.sort], here.query, sort)
    return {
        "heads": shown,
        "sorted_by": by,
        "is_usual_order": table.asked.is_usual_order,
        "sort_words": [labels.get(head.key, head.label) for head in by],
        "also_by": [head for head in shown if not head.place],
    }


def _changes(person: Person, table: Table) -> dict[str, bool]:
    """The bulk changes that can change one of these rows: who leads none of them would find each one refused."""
    leads = any(lead.username == person.username for row in table.rows for lead in row.leads)
    return {"may_change_stage": leads, "may_change_area": leads or has_role(person, Role.ADMIN)}


def _carried(here: Opened) -> dict[str, object]:
    """What each form of the page has to carry on, and what is typed in the search."""
    return {
        "words": here.query.get("q", ""),
        "kept_filters": pairs_of(here.query, {"q", "page", "ids", *FILTERS}),
        "kept_columns": pairs_of(here.query, {"page", "ids", "columns"}),
        "kept_all": pairs_of(here.query, {"page", "ids"}),
        "usual_columns": address_of(here.query, {"page", "ids", "columns"}),
    }


def _column_choices(table: Table) -> list[tuple[str, str, bool]]:
    """Key, word and whether it is shown; those shown first, in their order."""
    words = dict(columns.choices())
    chosen = table.asked.columns
    rest = [key for key in words if key not in chosen]
    return [*((key, words[key], True) for key in chosen), *((key, words[key], False) for key in rest)]
