"""Every request that the reader may know of, with filters as chips and allow-listed columns to sort by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.models import Approval
from approvals.selectors import approvals_of
from approvals.views.chips import Chip, chip
from inventory.models import GpuModel
from projects.policies import visible_to
from quotas.models import QuotaRequest
from quotas.requests.queue import amounts
from quotas.requests.selectors import KIND, listed_requests
from quotas.states import RequestState

PAGE_SIZE = 100
MINE = "mine"
SORTS = {
    "project": "project__name",
    "model": "gpu_model__name",
    "guaranteed": "guaranteed",
    "from": "starts_at",
    "to": "ends_at",
    "state": "state",
    "asked": "submitted_at",
}
MOST_SORTS = 3
MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One request. ``before`` and ``after`` empty: a draft that does not say yet."""

    request: QuotaRequest
    approval: Approval | None
    before: str
    after: str

    @property
    def kept(self) -> Mapping[str, Any]:
        """What its approval keeps of it."""
        return self.approval.summary if self.approval else {}

    @property
    def since(self) -> datetime:
        """Of what waits, since when; else when it was decided or last changed."""
        decided = self.approval.decided_at if self.approval else None
        return decided or (self.request.submitted_at if self.request.is_open else None) or self.request.updated_at


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for: the filters, and the rows in their order."""

    chips: Sequence[Chip]
    rows: QuerySet[QuotaRequest]


def asked_for(request: HttpRequest, person: Person) -> Asked:
    """Of the requests that this person may know of."""
    chips = _chips(request, person)
    rows = _filtered(listed_requests(person), person, {one.key: one.chosen for one in chips})
    return Asked(chips, _sorted(rows, request))


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """The page at ``/quota-requests``."""
    asked = asked_for(request, require_signed_in(request.user))
    page = Paginator(asked.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "chips": asked.chips,
        "is_filtered": any(one.chosen for one in asked.chips),
        "query": request.GET.urlencode(),
        "page": page,
        "rows": rows_of(list(page)),
    }
    return render(request, "portal/request/list.html", context)


def rows_of(requests: Sequence[QuotaRequest]) -> list[Row]:
    """With what each asks for, as its approval keeps it. One statement."""
    approvals = approvals_of(KIND, [row.pk for row in requests])
    return [_row(row, approvals.get(row.pk)) for row in requests]


def _row(row: QuotaRequest, approval: Approval | None) -> Row:
    kept = approval.summary if approval else {}
    before = amounts(kept["held_guaranteed"], kept["held_limit"]) if kept else ""
    guaranteed, limit = row.guaranteed, row.limit
    if row.granted_guaranteed is not None:
        guaranteed, limit = row.granted_guaranteed, row.granted_limit
    return Row(row, approval, before, "" if guaranteed is None else amounts(guaranteed, limit))


def _chips(request: HttpRequest, person: Person) -> list[Chip]:
    models = [(name, title) for name, title in GpuModel.objects.order_by("title").values_list("name", "title")]
    projects = visible_to(person).filter(quota_requests__isnull=False).distinct().order_by("name")
    named = [(str(pk), name) for pk, name in projects.values_list("pk", "name")[:MOST_CHOICES]]
    parts: tuple[tuple[str, str, Sequence[tuple[str, str]]], ...] = (
        ("who", _("Whose"), [(MINE, _("mine"))]),
        ("state", _("State"), [(state.value, str(state.label)) for state in RequestState]),
        ("model", _("GPU model"), models),
        ("project", _("Project"), named),
    )
    return [chip(request.GET, key, label, choices) for key, label, choices in parts]


def _filtered(
    rows: QuerySet[QuotaRequest], person: Person, asked: Mapping[str, Sequence[str]]
) -> QuerySet[QuotaRequest]:
    if asked["who"]:
        rows = rows.filter(Q(created_by=person) | Q(submitted_by=person))
    for key, field in (("state", "state__in"), ("model", "gpu_model__name__in"), ("project", "project__in")):
        if asked[key]:
            rows = rows.filter(**{field: list(asked[key])})
    return rows


def _sorted(rows: QuerySet[QuotaRequest], request: HttpRequest) -> QuerySet[QuotaRequest]:
    """By what the address names, of the columns that may be sorted by; the newest first otherwise."""
    order = []
    for part in request.GET.get("sort", "").split(",")[:MOST_SORTS]:
        field = SORTS.get(part.removeprefix("-"))
        if field:
            value = F(field)
            order.append(value.desc(nulls_last=True) if part.startswith("-") else value.asc(nulls_last=True))
    return rows.order_by(*order, "-pk") if order else rows
