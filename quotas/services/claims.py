"""Writing the ledger: the one path by which claims of projects and areas come, make room and end.

The caller holds the locks of holder and GPU model, and has judged who may.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel import audit, clock, outbox
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from projects.models import Project, ResearchArea
from projects.states import ProjectState
from quotas.errors import NoResources
from quotas.ledger import Entry, Plan, supersede
from quotas.models import Claim, ClaimKind, QuotaRequest
from quotas.raises import Part, Totals, held, joined, left_of
from quotas.selectors import live_claims
from quotas.services.terms import Terms, check_amounts, window

Holder = Project | ResearchArea


@dataclass(frozen=True, slots=True)
class Origin:
    """Who gives (None: the portal itself), and for which request."""

    actor: Person | None
    request: QuotaRequest | None = None

    @property
    def source(self) -> str:
        return "grant" if self.request is None else "request"


@dataclass(frozen=True, slots=True)
class _Replaced:
    """The claims that a new one meets, and what becomes of them."""

    plan: Plan = field(default_factory=Plan)
    rows: dict[int, Claim] = field(default_factory=dict)

    @property
    def touched(self) -> set[int]:
        return {entry.id for entry in (*self.plan.ended, *self.plan.voided)}


def require_active(project: Project) -> None:
    """Only an active project gets anything (REG2). Raises ``NoResources``."""
    if project.state != ProjectState.ACTIVE:
        text = _("Project %(project)s is %(state)s; only an active one gets a quota.")
        words = text % {"project": project.name, "state": ProjectState(project.state).label}
        raise NoResources(words, data={"state": project.state})


def grant_base(origin: Origin, holder: Holder, terms: Terms, model: GpuModel | None) -> Claim:
    """A base claim in place of those it overlaps. What temporary raises add is reduced to what still misses to theirs.

    Raises ``ExceedsFree`` and ``Invalid``.
    """
    during = window(terms)
    replaced = _overlapping(holder, terms, during, ClaimKind.BASE)
    raises = _overlapping(holder, terms, during, ClaimKind.TEMPORARY)
    # What is left of the raises never adds to what is held: the base alone can ask for more.
    check_amounts(terms, model, during, replaced.touched | raises.touched)
    before = {"superseded": [plain(row, to_interval(row.during)) for row in replaced.rows.values()]}
    left = _left_of(raises, terms, held([*_parts(replaced), *_parts(raises)], during))
    _make_room(replaced, origin.actor, terms.reason)
    _swallow(raises, left, during, origin.actor, terms.reason)
    claim = _new_claim(origin, holder, terms, model, during)
    audit.record("quota.granted", actor=origin.actor, subject=claim, before=before, after=plain(claim, during))
    emit(claim)
    return claim


def grant_on_top(origin: Origin, project: Project, parts: list[Part], terms: Terms, model: GpuModel) -> list[Claim]:
    """Temporary claims that end by themselves, one for each part. Raises ``ExceedsFree``."""
    claims = []
    for part in parts:
        own = replace(terms, guaranteed=part.guaranteed, limit=part.limit)
        check_amounts(own, model, part.during, ())
        claim = _new_claim(origin, project, own, model, part.during, ClaimKind.TEMPORARY)
        audit.record("quota.raised", actor=origin.actor, subject=claim, after=plain(claim, part.during))
        emit(claim)
        claims.append(claim)
    return claims


def end_claim(claim: Claim, at: datetime, actor: Person | None, reason: str) -> None:
    """Over at ``at``; void if it would begin then or later."""
    during = to_interval(claim.during)
    claim.ended_at, claim.ended_by, claim.end_reason = clock.now(), actor, reason
    if during.start < at:
        claim.during = to_range(replace(during, end=at))
    else:
        claim.voided_at = clock.now()
    claim.save(update_fields=["during", "voided_at", "ended_at", "ended_by", "end_reason"])


def plain(claim: Claim, during: Interval) -> dict[str, Any]:
    """What the audit log keeps of a claim."""
    return {
        "claim": claim.pk,
        "project": claim.project_id,
        "area": claim.area_id,
        "resource": claim.resource,
        "gpu_model": claim.gpu_model.name if claim.gpu_model else None,
        "kind": claim.kind,
        "guaranteed": claim.guaranteed,
        "limit": claim.limit,
        "effective_from": during.start,
        "effective_to": during.end,
        "reason": claim.reason,
        "request": claim.request_id,
        "is_automatic": claim.granted_by_id is None,
    }


def emit(claim: Claim) -> None:
    """Tell the rooms above."""
    data = {"resource": claim.resource, "gpu_model": claim.gpu_model_id, "project": claim.project_id}
    outbox.emit("quota.changed", subject=claim, data=data)


def _new_claim(
    origin: Origin,
    holder: Holder,
    terms: Terms,
    model: GpuModel | None,
    during: Interval,
    kind: ClaimKind = ClaimKind.BASE,
) -> Claim:
    return Claim.objects.create(
        project=holder if isinstance(holder, Project) else None,
        area=holder if isinstance(holder, ResearchArea) else None,
        resource=terms.resource,
        gpu_model=model,
        kind=kind,
        guaranteed=terms.guaranteed,
        limit=terms.limit,
        during=to_range(during),
        source=origin.source,
        request=origin.request,
        reason=terms.reason,
        granted_by=origin.actor,
        granted_at=clock.now(),
    )


def _overlapping(holder: Holder, terms: Terms, during: Interval, kind: ClaimKind) -> _Replaced:
    claims = live_claims().filter(
        resource=terms.resource,
        gpu_model=terms.gpu_model_id,
        kind=kind,
        during__overlap=to_range(during),
        **{"project" if isinstance(holder, Project) else "area": holder},
    )
    if kind == ClaimKind.TEMPORARY:
        claims = claims.filter(request__isnull=False)
    rows = {row.pk: row for row in claims.select_related("gpu_model", "request").order_by("pk")}
    entries = [Entry(pk, to_interval(row.during), row.guaranteed) for pk, row in rows.items()]
    return _Replaced(supersede(entries, during), rows)


def _make_room(replaced: _Replaced, actor: Person | None, reason: str) -> None:
    for entry in (*replaced.plan.ended, *replaced.plan.voided):
        row = replaced.rows[entry.id]
        start = entry.during.end if entry in replaced.plan.ended else entry.during.start
        end_claim(row, start or clock.now(), actor, reason)
    for entry, rest in replaced.plan.continued:
        row = replaced.rows[entry.id]
        _go_on(row, Part(rest, row.guaranteed, row.limit), actor)


def _parts(found: _Replaced) -> list[Part]:
    return [Part(to_interval(row.during), row.guaranteed, row.limit) for row in found.rows.values()]


def _left_of(raises: _Replaced, terms: Terms, stretches: Sequence[Part]) -> dict[int, list[Part]]:
    """What the new base leaves of each temporary claim, by claim: a part for each stretch that it reaches into."""
    base = Totals(terms.guaranteed, terms.limit)
    left: defaultdict[int, list[Part]] = defaultdict(list)
    for stretch in stretches:
        there = [row for row in raises.rows.values() if to_interval(row.during).overlaps(stretch.during)]
        rows = [(Part(stretch.during, row.guaranteed, row.limit), _reached(row)) for row in there]
        for row, part in zip(there, left_of(rows, base, stretch.guaranteed), strict=True):
            left[row.pk].append(part)
    return left


def _reached(row: Claim) -> Totals:
    """The totals that a temporary claim was to reach."""
    request = row.request
    if request is None or request.granted_guaranteed is None:
        return Totals(row.guaranteed, row.limit)
    return Totals(request.granted_guaranteed, request.granted_limit)


def _swallow(
    raises: _Replaced, left: Mapping[int, Sequence[Part]], during: Interval, actor: Person | None, reason: str
) -> None:
    """Reduce temporary claims to what is left of them; those it does not touch stay as they are."""
    for pk, parts in left.items():
        row = raises.rows[pk]
        if all((part.guaranteed, part.limit) == (row.guaranteed, row.limit) for part in parts):
            continue
        plan = supersede([Entry(pk, to_interval(row.during), row.guaranteed)], during)
        _make_room(_Replaced(plan, {pk: row}), actor, reason)
        for part in joined(parts):
            if not part.is_nothing:
                _go_on(row, part, actor)


def _go_on(row: Claim, part: Part, actor: Person | None) -> None:
    """The claim carried on by a row of its own; a raise stays one that its giver answers for."""
    Claim.objects.create(
        project_id=row.project_id,
        area_id=row.area_id,
        resource=row.resource,
        gpu_model_id=row.gpu_model_id,
        kind=row.kind,
        guaranteed=part.guaranteed,
        limit=part.limit,
        during=to_range(part.during),
        source=row.source,
        request_id=row.request_id,
        reason=row.reason,
        granted_by=row.granted_by if row.kind == ClaimKind.TEMPORARY else actor,
        granted_at=clock.now(),
        continues=row,
    )
