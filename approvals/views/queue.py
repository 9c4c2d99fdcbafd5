"""What waits: for the reader, and for others; and the panel beside it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from approvals.models import Approval
from approvals.policies import visible_to
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
    step_words,
)
from approvals.selectors import names, talk_of, way_of
from approvals.telling import address
from approvals.views.chips import Chip, chip
from approvals.views.frame import framed, peek_address
from kernel import clock
from kernel.errors import NotFound
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
    return {"line": line, "url": address(line.approval), "peek": peek_address(line.approval)}


def _chips(request: HttpRequest, everything: list[Line]) -> list[Chip]:
    models = [(name, model_title(name)) for name in models_among(everything)]
    fits = [(key, str(label)) for key, label in FITS.items()]
    parts = (("kind", _("Kind"), kinds_among(everything)), ("model", _("Model"), models), ("fits", _("Fits now"), fits))
    return [chip(request.GET, key, label, choices) for key, label, choices in parts]


@require_GET
def peek(request: HttpRequest, approval_id: str) -> HttpResponse:
    """What this room itself knows of one: who asked, its path, what was said."""
    person = require_signed_in(request.user)
    approval = visible_to(person).select_related("requester", "policy").filter(pk=int(approval_id)).first()
    if approval is None:
        raise NotFound
    return render(request, "approvals/peek.html", _peek(request, approval))


def _peek(request: HttpRequest, approval: Approval) -> dict[str, object]:
    steps = way_of(approval)
    people = names([pk for step in steps for pk in step.people])
    back = reverse("approvals:list")
    return {
        "approval": approval,
        "url": address(approval),
        "steps": [{"step": step, "who": step_words(step, people)} for step in steps],
        "talk": talk_of(request.user, approval),
        "back": back,
    }
