"""The page of the table: tabs, filters as chips, choice of columns, sums and rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from inventory.models import GpuModel
from portal.pages.table import columns
from portal.pages.table.address import FILTERS
from portal.pages.table.table import Table, table_for
from projects.filters import NO_TIER
from projects.models import Stage, Tier
from projects.states import ProjectState

PAGE_SIZE = 500
Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tab:
    url: str
    label: str
    count: int | None
    is_current: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """``clear`` is the address without this filter."""

    key: str
    label: str
    choices: Choices
    chosen: list[str]
    clear: str


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """All projects that this person may know of; columns, filters and order stand in the address."""
    person = require_signed_in(request.user)
    table = table_for(person, request.GET)
    page = Paginator(table.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "body": table.body(list(page.object_list)),
        "heads": table.columns,
        "sums": table.sums(),
        "total": len(table.everything),
        "tabs": tabs(request.GET, table),
        "chips": chips(request.GET, table),
        "words": request.GET.get("q", ""),
        "kept": hidden(request.GET, {"q", "page", "columns", "ids", *(key for key in FILTERS)}),
        "kept_all": hidden(request.GET, {"page", "ids"}),
        "column_choices": columns.choices(),
        "columns_chosen": table.asked.columns,
        "is_filtered": table.asked.is_filtered,
        "query": address_of(request.GET, without={"page", "ids"}),
    }
    return render(request, "portal/projects.html", context)


def hidden(query: QueryDict, without: set[str]) -> Choices:
    """What a form of the page has to carry on."""
    return [(key, value) for key, values in query.lists() if key not in without for value in values]


def address_of(query: QueryDict, *, without: Iterable[str]) -> str:
    return urlencode(hidden(query, set(without)))


def tabs(query: QueryDict, table: Table) -> list[Tab]:
    """Ways of looking that everybody has, counted from the rows that are here anyway."""
    ended = (ProjectState.DRAFT, ProjectState.REJECTED, ProjectState.CLOSED)
    ways: tuple[tuple[str, Choices, int], ...] = (
        (_("All projects"), [], len(table.everything)),
        (
            _("High tier"),
            [("tier", str(Tier.HIGH))],
            sum(row.facts["tier_now"] == Tier.HIGH for row in table.everything),
        ),
        (_("Milestone late"), [("late", "true")], sum(row.is_late(table.at.today) for row in table.everything)),
        (
            _("Drafts and ended"),
            [("state", str(state)) for state in ended],
            sum(row.facts["state"] in ended for row in table.everything),
        ),
    )
    here = sorted(hidden(query, {key for key in query if key not in FILTERS}))
    kept = hidden(query, {"page", "ids", *FILTERS})
    address = reverse("projects:list")
    return [
        Tab(f"{address}?{urlencode([*filters, *kept])}", label, count, sorted(filters) == here)
        for label, filters, count in ways
    ]


def chips(query: QueryDict, table: Table) -> list[Chip]:
    """The filters; areas and leads are those of the projects that the person sees."""
    areas = {row.facts["area__name"]: row.facts["area__title"] for row in table.everything if row.facts["area__name"]}
    leads = {lead.username: lead.name for row in table.everything for lead in row.leads}
    models = list(GpuModel.objects.order_by("name").values_list("name", flat=True))
    parts: tuple[tuple[str, str, Choices], ...] = (
        ("state", _("State"), [(str(key), str(label)) for key, label in ProjectState.choices]),
        ("tier", _("Tier"), [*((str(key), str(label)) for key, label in Tier.choices), (NO_TIER, _("No tier"))]),
        ("stage", _("Stage"), [(str(key), str(label)) for key, label in Stage.choices]),
        ("area", _("Area"), sorted(areas.items(), key=lambda pair: pair[1].casefold())),
        ("lead", _("Lead"), sorted(leads.items(), key=lambda pair: pair[1].casefold())),
        ("model", _("Quota on"), [(name, name) for name in models]),
        ("late", _("Milestone"), [("true", _("late"))]),
    )
    return [
        Chip(key, label, choices, query.getlist(key), address_of(query, without={key, "page", "ids"}))
        for key, label, choices in parts
    ]
