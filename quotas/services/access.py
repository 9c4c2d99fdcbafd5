"""Who may use a dedicated pool: dated access of projects and research areas, opened and ended by an admin.

Access lets a project's jobs onto the pool's nodes; how much it uses there is still for its own quota to say.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import Pool, PoolKind
from kernel import audit, clock, outbox
from kernel.calendar import organisation_zone
from kernel.errors import Conflict, Invalid, NotFound
from kernel.formats import exact_instant
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.unit import lock, unit_of_work
from projects.errors import OwnProject
from projects.models import Project, ResearchArea
from projects.policies import own_of, standing
from projects.states import ProjectState
from quotas.errors import AccessOverlaps, NoResources
from quotas.models import PoolAccess
from quotas.selectors import live_access, with_areas_below
from quotas.services.terms import start_and_end

Holder = Project | ResearchArea


@dataclass(frozen=True, slots=True)
class AccessSpec:
    """Exactly one of project and area. ``effective_from`` None: now; ``effective_to`` None: until further notice."""

    pool_id: int
    project_id: int | None = None
    area_id: int | None = None
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    reason: str = ""


def pool_open(*, actor: Person, access: AccessSpec) -> PoolAccess:
    """Let a project, or every project of an area, use a dedicated pool. Admins only, never for an own project.

    Locks area, project and pool. Raises ``Forbidden``, ``NotFound`` (no such pool), ``Conflict`` (not dedicated),
    ``NoResources`` (REG2), ``AccessOverlaps``, ``Invalid``.
    """
    require_role(actor, Role.ADMIN)
    if (access.project_id is None) == (access.area_id is None):
        raise Invalid({"project": _("Name a project or a research area, and only one of them.")})
    with unit_of_work():
        areas = [] if access.area_id is None else [access.area_id]
        projects = [] if access.project_id is None else [access.project_id]
        wanted: dict[type[Any], list[int]] = {ResearchArea: areas, Project: projects, Pool: [access.pool_id]}
        locked = lock(wanted, must_exist=False)
        pool = locked[Pool].get(access.pool_id)
        if pool is None:
            raise NotFound
        holder = _holder(access, {**locked[ResearchArea], **locked[Project]})
        _refuse_own(actor, holder)
        if pool.kind != PoolKind.DEDICATED:
            raise Conflict(_("Pool %(pool)s is shared: every project may use it.") % {"pool": pool.title})
        during = start_and_end(access.effective_from, access.effective_to)
        row = _open(actor, pool, holder, during, access.reason.strip())
        audit.record("pool.opened", actor=actor, subject=pool, after=_plain(row, during))
        _emit(row)
    return row


def pool_close(*, actor: Person, access_id: int, at: datetime | None = None, reason: str = "") -> PoolAccess:
    """End an access at a moment, now by default; one that has not begun is voided. What runs there runs on.

    Admins only. Locks pool and access. Raises ``NotFound``, and ``Conflict`` for one that is over or void.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        pool = PoolAccess.objects.filter(pk=access_id).values_list("pool_id", flat=True)
        row: PoolAccess = lock({Pool: pool, PoolAccess: [access_id]})[PoolAccess][access_id]
        now = clock.now()
        if at is not None and at < now:
            raise Invalid({"at": _("%(at)s lies in the past.") % {"at": exact_instant(at, organisation_zone())}})
        until, during = at or now, to_interval(row.during)
        if row.voided_at is not None or (during.end is not None and during.end <= until):
            raise Conflict(_("This access is over by then already."))
        _end(row, until, actor, reason)
    return row


def end_all_access(pool: Pool, actor: Person, reason: str) -> None:
    """End every access of a pool (locked by the caller) that is not over: it is not dedicated any more."""
    now = clock.now()
    for row in live_access().filter(pool=pool, during__overlap=to_range(Interval(now))).order_by("pk"):
        _end(row, now, actor, reason)


def _holder(access: AccessSpec, locked: dict[int, Any]) -> Holder:
    """The row named, which is there and, if a project, active."""
    holder: Holder | None = locked.get(access.project_id or access.area_id or 0)
    if holder is None and access.project_id is not None:
        raise Invalid({"project": _("There is no project %(id)s.") % {"id": access.project_id}})
    if holder is None:
        raise Invalid({"area": _("There is no research area %(id)s.") % {"id": access.area_id}})
    return holder


def _refuse_own(actor: Person, holder: Holder) -> None:
    if isinstance(holder, Project):
        is_own = standing(actor, holder).is_own
    else:
        areas = with_areas_below([holder.pk])[holder.pk]
        is_own = own_of(actor).filter(area__in=areas).exists()
    if is_own:
        raise OwnProject(data={"action": "open_pool"})


def _open(actor: Person, pool: Pool, holder: Holder, during: Interval, reason: str) -> PoolAccess:
    if isinstance(holder, Project) and holder.state != ProjectState.ACTIVE:
        text = _("Project %(project)s is %(state)s; only an active one runs jobs.")
        words = text % {"project": holder.name, "state": ProjectState(holder.state).label}
        raise NoResources(words, data={"state": holder.state})
    project = holder if isinstance(holder, Project) else None
    area = holder if isinstance(holder, ResearchArea) else None
    there = live_access().filter(pool=pool, project=project, area=area, during__overlap=to_range(during)).first()
    if there is not None:
        text = _("%(holder)s may use pool %(pool)s in this time already.")
        raise AccessOverlaps(text % {"holder": holder, "pool": pool.title}, data={"access": there.pk})
    return PoolAccess.objects.create(
        pool=pool,
        project=project,
        area=area,
        during=to_range(during),
        reason=reason,
        granted_by=actor,
        granted_at=clock.now(),
    )


def _end(row: PoolAccess, at: datetime, actor: Person, reason: str) -> None:
    """Over at ``at``; void if it would begin then or later."""
    during = to_interval(row.during)
    row.ended_at, row.ended_by, row.end_reason = clock.now(), actor, reason
    if during.start < at:
        row.during = to_range(Interval(during.start, at))
    else:
        row.voided_at = clock.now()
    row.save(update_fields=["during", "voided_at", "ended_at", "ended_by", "end_reason"])
    after = {"over_at": at, "is_void": row.voided_at is not None, "reason": reason}
    audit.record("pool.closed", actor=actor, subject=row.pool, before=_plain(row, during), after=after)
    _emit(row)


def _plain(row: PoolAccess, during: Interval) -> dict[str, Any]:
    return {
        "access": row.pk,
        "project": row.project_id,
        "area": row.area_id,
        "effective_from": during.start,
        "effective_to": during.end,
        "reason": row.reason,
    }


def _emit(row: PoolAccess) -> None:
    outbox.emit("pool.access_changed", subject=row.pool, data={"project": row.project_id, "area": row.area_id})
