"""Grants: a base claim replaces what it overlaps, from its start on; what was before stays as it was (QUO5).

Order of locks: research area, project, GPU model. A holder's claims change only under the holder's lock, so the rows
themselves need none of their own.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import GpuModel
from kernel import audit, clock, outbox
from kernel.calendar import organisation_zone
from kernel.errors import Conflict, Invalid, NotFound
from kernel.formats import exact_instant
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.subject import Actor
from kernel.unit import lock, unit_of_work
from projects.errors import OwnProject
from projects.models import Project, ResearchArea
from projects.policies import own_of, standing
from projects.states import ProjectState
from quotas.errors import NoResources
from quotas.ledger import Entry, Plan, supersede
from quotas.models import Claim, ClaimKind, Resource
from quotas.selectors import live_claims
from quotas.services.terms import LATE, Terms, check_amounts, check_shape, window

Holder = Project | ResearchArea


@dataclass(frozen=True, slots=True)
class GrantSpec:
    """A grant to a project. GPUs are whole; memory and storage in bytes. ``effective_from`` None: now."""

    project_id: int
    guaranteed: int
    limit: int | None = None
    resource: str = Resource.GPU
    gpu_model_id: int | None = None
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    reason: str = ""

    @property
    def terms(self) -> Terms:
        return _terms(self)


@dataclass(frozen=True, slots=True)
class AreaGrantSpec:
    """A grant to a research area: what it is promised on top of its projects' own guarantees."""

    area_id: int
    guaranteed: int
    limit: int | None = None
    resource: str = Resource.GPU
    gpu_model_id: int | None = None
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    reason: str = ""

    @property
    def terms(self) -> Terms:
        return _terms(self)


@dataclass(frozen=True, slots=True)
class _Replaced:
    """The claims that a new one meets, and what becomes of them."""

    plan: Plan = field(default_factory=Plan)
    rows: dict[int, Claim] = field(default_factory=dict)

    @property
    def touched(self) -> set[int]:
        return {entry.id for entry in (*self.plan.ended, *self.plan.voided)}


def quota_grant(*, actor: Person, grant: GrantSpec) -> Claim:
    """Give a project its base quota of one resource from a moment on. Admins only, never to an own project.

    Supersedes the overlapping base grant of that project and resource: what is in force ends at the start, what
    was to come is voided, what reaches beyond the end is granted again after it. Locks project and GPU model.
    Raises ``Forbidden``, ``NoResources`` (REG2), ``ExceedsFree``, ``Invalid``.
    """
    require_role(actor, Role.ADMIN)
    check_shape(grant.terms)
    with unit_of_work():
        locked = lock({Project: [grant.project_id], GpuModel: _model_ids(grant.terms)}, must_exist=False)
        project = locked[Project].get(grant.project_id)
        if project is None:
            raise Invalid({"project": _("There is no project %(id)s.") % {"id": grant.project_id}})
        if standing(actor, project).is_own:
            raise OwnProject(data={"action": "grant"})
        if project.state != ProjectState.ACTIVE:
            text = _("Project %(project)s is %(state)s; only an active one gets a quota.")
            words = text % {"project": project.name, "state": ProjectState(project.state).label}
            raise NoResources(words, data={"state": project.state})
        return _grant(actor, project, grant.terms, _model_of(grant.terms, locked[GpuModel]))


def area_grant(*, actor: Person, grant: AreaGrantSpec) -> Claim:
    """Promise a research area something on top of its projects' own guarantees (additive, so that no GPU counts
    twice). Admins only, who never worked in any of the area's projects. Locks area and GPU model. Raises as
    ``quota_grant``.
    """
    require_role(actor, Role.ADMIN)
    check_shape(grant.terms)
    with unit_of_work():
        locked = lock({ResearchArea: [grant.area_id], GpuModel: _model_ids(grant.terms)}, must_exist=False)
        area = locked[ResearchArea].get(grant.area_id)
        if area is None:
            raise Invalid({"area": _("There is no research area %(id)s.") % {"id": grant.area_id}})
        if own_of(actor).filter(area=area).exists():
            raise OwnProject(data={"action": "grant"})
        return _grant(actor, area, grant.terms, _model_of(grant.terms, locked[GpuModel]))


def claim_end(*, actor: Person, claim_id: int, at: datetime | None = None, reason: str = "") -> Claim:
    """End a claim of a project or area at a moment, now by default; one that has not begun is voided.

    Admins only. Frees, so it locks holder and claim alone. Raises ``Conflict`` for one that is over
    or void.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        found = Claim.objects.select_related("project", "area").filter(pk=claim_id).first()
        if found is None or found.holder is None or found.pool_id is not None:
            raise NotFound
        projects = [] if found.project_id is None else [found.project_id]
        areas = [] if found.area_id is None else [found.area_id]
        claim: Claim = lock({ResearchArea: areas, Project: projects, Claim: [claim_id]})[Claim][claim_id]
        now = clock.now()
        until = max(at or now, now)
        if at is not None and at < now - LATE:
            raise Invalid({"at": _("%(at)s lies in the past.") % {"at": exact_instant(at, organisation_zone())}})
        during = to_interval(claim.during)
        if claim.voided_at is not None or (during.end is not None and during.end <= until):
            raise Conflict(_("This claim is over by then already."))
        _end(claim, until, actor, reason)
        after = {"over_at": until, "is_void": claim.voided_at is not None, "reason": reason}
        audit.record("quota.ended", actor=actor, subject=claim, before=_plain(claim, during), after=after)
        _emit(claim)
    return claim


def project_claims_end(*, project_id: int, actor: Actor = None, reason: str = "") -> int:
    """End or void every claim of a project that is not over; how many it changed. Doing it again changes none.

    For the portal itself when a project closes: nobody's right is asked. Locks the project.
    """
    with unit_of_work():
        lock({Project: [project_id]})
        now = clock.now()
        claims = live_claims().filter(project=project_id).filter(during__overlap=to_range(Interval(now)))
        ended = list(claims.order_by("gpu_model_id", "pk"))
        for claim in ended:
            before = _plain(claim, to_interval(claim.during))
            _end(claim, now, actor if isinstance(actor, Person) else None, reason)
            audit.record("quota.ended", actor=actor, subject=claim, before=before, after={"reason": reason})
            _emit(claim)
    return len(ended)


def _terms(spec: GrantSpec | AreaGrantSpec) -> Terms:
    return Terms(
        spec.resource,
        spec.gpu_model_id,
        spec.guaranteed,
        spec.limit,
        spec.effective_from,
        spec.effective_to,
        spec.reason.strip(),
    )


def _model_ids(terms: Terms) -> list[int]:
    return [] if terms.gpu_model_id is None else [terms.gpu_model_id]


def _model_of(terms: Terms, locked: dict[int, GpuModel]) -> GpuModel | None:
    if terms.gpu_model_id is None:
        return None
    if terms.gpu_model_id not in locked:
        raise Invalid({"gpu_model": _("There is no GPU model %(id)s.") % {"id": terms.gpu_model_id}})
    return locked[terms.gpu_model_id]


def _grant(actor: Person, holder: Holder, terms: Terms, model: GpuModel | None) -> Claim:
    during = window(terms)
    replaced = _replaced(holder, terms, during)
    check_amounts(terms, model, during, replaced.touched)
    before = {"superseded": [_plain(row, to_interval(row.during)) for row in replaced.rows.values()]}
    _make_room(replaced, actor, terms.reason)
    claim = Claim.objects.create(
        project=holder if isinstance(holder, Project) else None,
        area=holder if isinstance(holder, ResearchArea) else None,
        resource=terms.resource,
        gpu_model=model,
        guaranteed=terms.guaranteed,
        limit=terms.limit,
        during=to_range(during),
        reason=terms.reason,
        granted_by=actor,
        granted_at=clock.now(),
    )
    audit.record("quota.granted", actor=actor, subject=claim, before=before, after=_plain(claim, during))
    _emit(claim)
    return claim


def _replaced(holder: Holder, terms: Terms, during: Interval) -> _Replaced:
    claims = live_claims().filter(
        resource=terms.resource,
        gpu_model=terms.gpu_model_id,
        kind=ClaimKind.BASE,
        during__overlap=to_range(during),
        **{"project" if isinstance(holder, Project) else "area": holder},
    )
    rows = {row.pk: row for row in claims.select_related("gpu_model").order_by("pk")}
    entries = [Entry(pk, to_interval(row.during), row.guaranteed) for pk, row in rows.items()]
    return _Replaced(supersede(entries, during), rows)


def _make_room(replaced: _Replaced, actor: Person, reason: str) -> None:
    now = clock.now()
    for entry in (*replaced.plan.ended, *replaced.plan.voided):
        row = replaced.rows[entry.id]
        start = entry.during.end if entry in replaced.plan.ended else entry.during.start
        _end(row, start or now, actor, reason)
    for entry, rest in replaced.plan.continued:
        row = replaced.rows[entry.id]
        Claim.objects.create(
            project_id=row.project_id,
            area_id=row.area_id,
            resource=row.resource,
            gpu_model_id=row.gpu_model_id,
            kind=row.kind,
            guaranteed=row.guaranteed,
            limit=row.limit,
            during=to_range(rest),
            source=row.source,
            reason=row.reason,
            granted_by=actor,
            granted_at=now,
            continues=row,
        )


def _end(claim: Claim, at: datetime, actor: Person | None, reason: str) -> None:
    """Over at ``at``; void if it would begin then or later."""
    during = to_interval(claim.during)
    claim.ended_at, claim.ended_by, claim.end_reason = clock.now(), actor, reason
    if during.start < at:
        claim.during = to_range(replace(during, end=at))
    else:
        claim.voided_at = clock.now()
    claim.save(update_fields=["during", "voided_at", "ended_at", "ended_by", "end_reason"])


def _plain(claim: Claim, during: Interval) -> dict[str, Any]:
    return {
        "claim": claim.pk,
        "project": claim.project_id,
        "area": claim.area_id,
        "resource": claim.resource,
        "gpu_model": claim.gpu_model.name if claim.gpu_model else None,
        "guaranteed": claim.guaranteed,
        "limit": claim.limit,
        "effective_from": during.start,
        "effective_to": during.end,
        "reason": claim.reason,
    }


def _emit(claim: Claim) -> None:
    data = {"resource": claim.resource, "gpu_model": claim.gpu_model_id, "project": claim.project_id}
    outbox.emit("quota.changed", subject=claim, data=data)
