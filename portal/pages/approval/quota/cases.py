"""How like requests were decided, and what became of what was given."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.core.cache import cache
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from accounts.models import Role
from approvals.models import Approval, Vote
from approvals.states import ApprovalState
from portal.pages.approval.evidence.likeness import LOOKED_BACK, Decided, Traits, approved_of, like_cases
from projects.models import Project
from quotas.models import QuotaRequest
from quotas.requests.queue import amounts
from quotas.requests.selectors import KIND
from scheduling.engine import MILLI
from scheduling.selectors.pieces import pieces_between

MOST_READ = 400
SHOWN = 5
KEPT_S = 300


@dataclass(frozen=True, slots=True)
class Case:
    """``used_pct``: GPUs held on average of what was guaranteed while the grant lasted; None: not known."""

    approval_id: int
    project: str
    gpu_model: str
    before: str
    after: str
    is_approved: bool
    is_less: bool
    by: str
    decided_at: datetime
    used_pct: float | None
    is_to_come: bool
    """It was granted and has not begun."""


@dataclass(frozen=True, slots=True)
class Cases:
    rows: tuple[Case, ...]
    approved: int

    @property
    def headline(self) -> str:
        """``5 of 7 like cases approved``, with how much of it was used where that is known."""
        if not self.rows:
            return _("No like case in the last 9 months")
        words = ngettext(
            "%(approved)s of %(count)s like case approved",
            "%(approved)s of %(count)s like cases approved",
            len(self.rows),
        ) % {"approved": self.approved, "count": len(self.rows)}
        known = [case.used_pct for case in self.rows if case.used_pct is not None]
        if not known:
            return words
        return _("%(cases)s, %(used)s %% used") % {"cases": words, "used": round(sum(known) / len(known))}

    @property
    def open(self) -> tuple[Case, ...]:
        return self.rows[:SHOWN]

    @property
    def folded(self) -> tuple[Case, ...]:
        return self.rows[SHOWN:]


def traits_of(approval: Approval, stage: str) -> Traits:
    """By what it is compared: as it was submitted, with the stage its project is in now."""
    kept = approval.summary
    more = int(kept.get("guaranteed") or 0) - int(kept.get("held_guaranteed") or 0)
    return Traits(str(kept.get("gpu_model") or ""), approval.measured.tier or "", stage, more)


def cases_of(approval: Approval, stage: str, now: datetime) -> Cases:
    """Kept for five minutes, in the reader's language. Five statements."""
    key = f"decision-cases:{approval.pk}:{approval.version}:{get_language()}"
    kept = cache.get(key)
    if isinstance(kept, list):
        rows = [Case(**{**row, "decided_at": datetime.fromisoformat(row["decided_at"])}) for row in kept]
        return Cases(tuple(rows), sum(row.is_approved for row in rows))
    found = _cases(approval, stage, now)
    cache.set(key, [{**asdict(row), "decided_at": row.decided_at.isoformat()} for row in found.rows], KEPT_S)
    return found


def _cases(approval: Approval, stage: str, now: datetime) -> Cases:
    over = (ApprovalState.APPROVED, ApprovalState.REJECTED)
    rows = Approval.objects.filter(kind=KIND, state__in=over, decided_at__gte=now - LOOKED_BACK).exclude(pk=approval.pk)
    decided = list(rows.order_by("-decided_at")[:MOST_READ])
    projects = Project.objects.in_bulk({row.project_id for row in decided if row.project_id})
    stages = {pk: project.stage for pk, project in projects.items()}
    plain = [
        Decided(row.pk, traits_of(row, stages.get(row.project_id or 0, "")), row.decided_at, _is_approved(row))
        for row in decided
        if row.decided_at is not None
    ]
    like = like_cases(traits_of(approval, stage), plain, now)
    by_id = {row.pk: row for row in decided}
    chosen = [by_id[case.id] for case in like]
    requests = QuotaRequest.objects.select_related("gpu_model").in_bulk([row.subject_id for row in chosen])
    used, deciders = _used(list(requests.values()), now), _deciders(chosen)
    cases = tuple(
        _case(row, requests[row.subject_id], projects, deciders.get(row.pk, ""), used.get(row.subject_id), now)
        for row in chosen
    )
    return Cases(cases, approved_of(like))


def _is_approved(row: Approval) -> bool:
    return row.state == ApprovalState.APPROVED


def _case(
    row: Approval,
    request: QuotaRequest,
    projects: Mapping[int, Project],
    by: str,
    used: float | None,
    now: datetime,
) -> Case:
    kept, given = row.summary, (request.granted_guaranteed, request.granted_limit)
    guaranteed = kept["guaranteed"] if given[0] is None else given[0]
    project = projects.get(row.project_id or 0)
    return Case(
        approval_id=row.pk,
        project=project.name if project else "–",
        gpu_model=str(kept["gpu_model"]),
        before=amounts(kept["held_guaranteed"], kept["held_limit"]),
        after=amounts(guaranteed, kept["limit"] if given[0] is None else given[1]),
        is_approved=_is_approved(row),
        is_less=bool(row.changes),
        by=_("the policy") if row.is_automatic else by,
        decided_at=row.decided_at or now,
        used_pct=used,
        is_to_come=request.granted_from is not None and request.granted_from > now,
    )


def _deciders(rows: Sequence[Approval]) -> dict[int, str]:
    """The role in which the last vote was given. One statement."""
    found: dict[int, str] = {}
    votes = Vote.objects.filter(approval__in=[row.pk for row in rows], lapsed_at__isnull=True)
    for vote in votes.select_related("step", "person").order_by("pk"):
        roles = [str(Role(role).label) for role in sorted(vote.step.open_to)]
        found[vote.approval_id] = _(" or ").join(roles) or str(vote.person)
    return found


def _used(requests: Sequence[QuotaRequest], now: datetime) -> dict[int, float]:
    """By request: GPUs held on average in per cent of the guarantee since it was given. One statement."""
    begun = [
        (row, row.granted_from, min(row.granted_ends_at or now, now))
        for row in requests
        if row.granted_from is not None and row.granted_from < now and row.granted_guaranteed
    ]
    if not begun:
        return {}
    first = max(min(start for _row, start, _end in begun), now - LOOKED_BACK)
    pieces = defaultdict(list)
    for piece in pieces_between(first, now, {row.project_id for row, _start, _end in begun}):
        pieces[piece.project, piece.gpu_model].append(piece)
    shares: dict[int, float] = {}
    for row, start, end in begun:
        since = max(start, first)
        held = sum(
            piece.milli * (min(piece.until, end) - max(piece.start, since)).total_seconds()
            for piece in pieces[row.project_id, row.gpu_model_id or 0]
            if piece.start < end and piece.until > since
        )
        whole = (row.granted_guaranteed or 0) * MILLI * (end - since).total_seconds()
        if whole > 0:
            shares[row.pk] = min(100.0, 100 * held / whole)
    return shares
