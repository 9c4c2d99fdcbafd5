"""Grants: a base claim replaces what it overlaps, from its start on; what was before stays as it was (QUO5).

Order of locks: research area, project, GPU model. A holder's claims change only under the holder's lock, so the rows
themselves need none of their own.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import GpuModel
from kernel import audit, clock
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
from quotas.models import Claim, Resource
from quotas.selectors import live_claims
from quotas.services.claims import Origin, emit, end_claim, grant_base, plain, require_active
from quotas.services.terms import Terms, check_shape
from quotas.windows import LATE


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
        require_active(project)
        model = _model_of(grant.terms, locked[GpuModel])
        return grant_base(Origin(actor), project, grant.terms, model)


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
        return grant_base(Origin(actor), area, grant.terms, _model_of(grant.terms, locked[GpuModel]))


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
        end_claim(claim, until, actor, reason)
        after = {"over_at": until, "is_void": claim.voided_at is not None, "reason": reason}
        audit.record("quota.ended", actor=actor, subject=claim, before=plain(claim, during), after=after)
        emit(claim)
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
            before = plain(claim, to_interval(claim.during))
            end_claim(claim, now, actor if isinstance(actor, Person) else None, reason)
            audit.record("quota.ended", actor=actor, subject=claim, before=before, after={"reason": reason})
            emit(claim)
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
