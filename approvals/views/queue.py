"""What waits: for the reader, and for others. The panel beside it is composed by the portal."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from approvals.queue import (
    FITS,
    Filters,
    Line,
    figures,
    grouped,
    kinds_among,
    lines,
    models_among,
    queue_of,
)
from approvals.telling import address
from approvals.views.chips import Chip, chip
from approvals.views.frame import framed
from kernel import clock
from kernel.looks import model_title


@require_GET
def waiting(request: HttpRequest) -> HttpResponse:
    """What this person may decide now, by answer-by time."""
    return _page(request, is_mine=True)


@require_GET
def others(request: HttpRequest) -> HttpResponse:
    """What others decide, what was asked back, and first what nobody can decide."""
    return _page(request, is_mine=False)


def _page(request: HttpRequest, *, is_mine: bool) -> HttpResponse:
    person, now = require_signed_in(request.user), clock.now()
    queue = queue_of(person)
    everything = lines(queue.mine if is_mine else queue.others, now, is_mine=is_mine)
    chips = _chips(request, everything)
    asked = Filters(*(frozenset(one.chosen) for one in chips))
    rows = [line for line in everything if asked.take(line)]
    context = {
        "groups": [
            {"title": group.title, "key": group.key, "rows": [_row(line) for line in group.lines]}
            for group in grouped(rows)
        ],
        "chips": chips,
        "count": len(rows),
        "total": len(everything),
        "is_mine": is_mine,
        "is_filtered": asked.is_set,
        "figures": figures(person, queue.mine, now),
        "now": now,
        "has_others": bool(queue.others),
    }
    name = "list" if is_mine else "others"
    return render(request, "approvals/queue.html", framed(person, name, context, queue))


def _row(line: Line) -> dict[str, object]:
    return {"line": line, "url": address(line.approval), "peek": reverse("approval-peek", args=[line.approval.pk])}


def _chips(request: HttpRequest, everything: list[Line]) -> list[Chip]:
    models = [(name, model_title(name)) for name in models_among(everything)]
    fits = [(key, str(label)) for key, label in FITS.items()]
    parts = (("kind", _("Kind"), kinds_among(everything)), ("model", _("Model"), models), ("fits", _("Fits now"), fits))
    return [chip(request.GET, key, label, choices) for key, label, choices in parts]
