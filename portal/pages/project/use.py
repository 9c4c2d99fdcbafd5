"""How many GPUs a project held over time, against what it was promised: the data of the chart on its page."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from inventory.models import GpuModel
from kernel import clock
from kernel.errors import NotFound
from kernel.intervals import Interval
from kernel.looks import model_class, model_title
from kernel.ranges import to_interval, to_range
from monitoring.engine.series import Window
from projects.policies import visible_to
from quotas.models import ClaimKind, Resource
from quotas.selectors import live_claims
from scheduling.engine import MILLI
from scheduling.selectors.pieces import Piece, pieces_between
from scheduling.selectors.unseen import unseen_between


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range that can be chosen, and the width of its steps."""

    label: str | Promise
    length: timedelta
    step_s: int


RANGES = {
    "24h": Stretch(gettext_lazy("24 h"), timedelta(hours=24), 300),
    "7d": Stretch(gettext_lazy("7 d"), timedelta(days=7), 1800),
    "30d": Stretch(gettext_lazy("30 d"), timedelta(days=30), 7200),
    "90d": Stretch(gettext_lazy("90 d"), timedelta(days=90), 21600),
}
USUAL = "7d"


def range_asked(request: HttpRequest) -> str:
    """The range that the address names; the usual one where it names none, or one that there is not."""
    asked = request.GET.get("use", "")
    return asked if asked in RANGES else USUAL


@require_GET
def use(request: HttpRequest, project_id: int) -> HttpResponse:
    """``/projects/<id>/use?use=7d``: GPUs held by model, guarantee and limit, by step. Six statements."""
    if not visible_to(require_signed_in(request.user)).filter(pk=project_id).exists():
        raise NotFound
    stretch, now = RANGES[range_asked(request)], clock.now()
    window = Window.covering(now - stretch.length, now, stretch.step_s)
    pieces = pieces_between(window.start, now, [project_id])
    models = {model.pk: model for model in GpuModel.objects.order_by("title")}
    held = held_by_model(pieces, window, now)
    unseen = unseen_between(project_id, window.start, now)
    answer: dict[str, Any] = {
        "start": window.start.isoformat(),
        "step_s": window.step_s,
        "unit": "",
        "is_stacked": True,
        "is_simulated": any(piece.is_simulated for piece in pieces),
        "at": now.isoformat(),
        "series": [
            {"label": model_title(model.name), "css_class": model_class(model.name), "values": held[pk]}
            for pk, model in models.items()
            if pk in held
        ],
        "lines": _lines(_claims(project_id, window), window, now),
        "gaps": [_steps(span, window, now) for span in unseen],
        "gap_label": _("no news from a node"),
    }
    return JsonResponse(answer)


def held_by_model(pieces: Iterable[Piece], window: Window, now: datetime) -> dict[int, list[float]]:
    """Mean number of GPUs held in each step, by GPU model; the step that is not over counts up to now."""
    edges = [*window.instants, window.end]
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0] * window.count)
    for piece in pieces:
        spent, at = sums[piece.gpu_model], piece.start
        index = max(0, bisect_right(edges, at) - 1)
        while at < piece.until and index < window.count:
            until = min(piece.until, edges[index + 1])
            spent[index] += piece.milli * (until - at).total_seconds()
            at, index = until, index + 1
    lengths = [max((min(end, now) - start).total_seconds(), 1.0) for start, end in pairwise(edges)]
    return {
        model: [round(milli / MILLI / length, 2) for milli, length in zip(spent, lengths, strict=True)]
        for model, spent in sums.items()
    }


Held = tuple[Interval, int, int | None]
"""A claim: when, how much is guaranteed, and its limit."""


def _claims(project_id: int, window: Window) -> list[Held]:
    rows = live_claims().filter(project=project_id, resource=Resource.GPU).exclude(kind=ClaimKind.EMERGENCY)
    rows = rows.filter(during__overlap=to_range(Interval(window.start, window.end)))
    return [(to_interval(row.during), row.guaranteed, row.limit) for row in rows]


def _lines(claims: Sequence[Held], window: Window, now: datetime) -> list[dict[str, Any]]:
    """Guarantee and limit at the end of each step, as the ledger has them; before the first quota there is no line.

    A claim without a limit leaves the sum without one.
    """
    step = timedelta(seconds=window.step_s)
    instants = [min(start + step, now) for start in window.instants]
    if not claims:
        return []

    def along(value: Callable[[list[Held]], int | None]) -> list[int | None]:
        held = ([claim for claim in claims if claim[0].contains(at)] for at in instants)
        return [value(here) if here else None for here in held]

    return [
        {"label": _("Guaranteed"), "kind": "guaranteed", "values": along(lambda at: sum(claim[1] for claim in at))},
        {"label": _("Limit"), "kind": "limit", "values": along(_limit)},
    ]


def _limit(claims: list[Held]) -> int | None:
    limits = [claim[2] for claim in claims]
    known = [limit for limit in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None


def _steps(span: Interval, window: Window, now: datetime) -> tuple[int, int]:
    """The first and the last step that a span touches."""
    step = timedelta(seconds=window.step_s)
    last = (min(span.end or now, now) - window.start) // step
    return (span.start - window.start) // step, min(last, window.count - 1)
