"""What was decided, newest first; what the policy granted by itself is marked, and can be listed alone (ELA4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from approvals.kinds import kind_named, kinds
from approvals.models import Approval, Vote
from approvals.queue import shown_rows
from approvals.selectors import decided
from approvals.states import OPEN, ApprovalState
from approvals.telling import address
from approvals.views.chips import Chip, chip
from approvals.views.frame import framed
from kernel import clock

PAGE_SIZE = 50
AUTOMATIC, BY_PEOPLE = "automatic", "people"


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Fifty a page, by kind, by what became of it, and by who decided: people, or the policy."""
    person = require_signed_in(request.user)
    chips = _chips(request)
    rows = _filtered(decided(person), {one.key: one.chosen for one in chips})
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    approvals = list(page)
    shown, votes = shown_rows(approvals, clock.now()), _votes(approvals)
    context: dict[str, Any] = {
        "chips": chips,
        "is_filtered": any(one.chosen for one in chips),
        "page": page,
        "rows": [
            {
                "approval": row,
                "shown": shown[row.pk],
                "kind": kind_named(row.kind).label,
                "votes": votes.get(row.pk, ()),
                "url": address(row),
            }
            for row in approvals
        ],
    }
    return render(request, "approvals/decided.html", framed(person, "decided", context))


def _chips(request: HttpRequest) -> list[Chip]:
    ended = [(state.value, str(state.label)) for state in ApprovalState if state not in OPEN]
    parts: tuple[tuple[str, str, Sequence[tuple[str, str]]], ...] = (
        ("kind", _("Kind"), [(kind.name, str(kind.label)) for kind in kinds()]),
        ("state", _("Outcome"), ended),
        ("by", _("Decided by"), [(AUTOMATIC, _("the policy, automatically")), (BY_PEOPLE, _("people"))]),
    )
    return [chip(request.GET, key, label, choices) for key, label, choices in parts]


def _filtered(rows: QuerySet[Approval], asked: Mapping[str, Sequence[str]]) -> QuerySet[Approval]:
    if asked["kind"]:
        rows = rows.filter(kind__in=asked["kind"])
    if asked["state"]:
        rows = rows.filter(state__in=asked["state"])
    if len(asked["by"]) == 1:
        rows = rows.filter(is_automatic=asked["by"][0] == AUTOMATIC)
    return rows


def _votes(approvals: Sequence[Approval]) -> dict[int, list[Vote]]:
    """The votes that counted, by approval. One statement."""
    rounds = {row.pk: row.round for row in approvals}
    found: dict[int, list[Vote]] = {}
    votes = Vote.objects.filter(approval__in=list(rounds), lapsed_at__isnull=True)
    for vote in votes.select_related("person", "on_behalf_of").order_by("id"):
        if vote.round == rounds[vote.approval_id]:
            found.setdefault(vote.approval_id, []).append(vote)
    return found
