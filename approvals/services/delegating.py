"""Stand-ins: for a time, or for one approval."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import has_role, require_signed_in
from approvals import telling
from approvals.deciders import current_steps, deciders, excluded, people_now
from approvals.errors import NothingToDecide, NotYours, OwnRequest
from approvals.models import Approval, Delegation
from approvals.policies import decides_something, visible_to
from approvals.services.voting import MOST_COMMENT
from kernel import audit, clock
from kernel.calendar import organisation_zone
from kernel.errors import Conflict, Invalid, NotFound
from kernel.formats import exact_instant
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from kernel.unit import lock, unit_of_work

LONGEST = timedelta(days=5 * 366)


def delegation_create(
    *, actor: Person | None, stand_in_id: int, starts_at: datetime | None, ends_at: datetime, reason: str = ""
) -> Delegation:
    """From ``starts_at`` (None: now) until ``ends_at`` somebody may decide what the actor may. Only for oneself.

    Never passed on further. Raises ``Invalid`` naming the field, ``NothingToDecide`` for who decides nothing: their
    stand-ins would be kept from deciding what they ask for, and nothing else would come of it.
    """
    with unit_of_work():
        someone = require_signed_in(actor)
        if not decides_something(someone):
            raise NothingToDecide
        stand_in = _stand_in(someone, stand_in_id)
        during = _window(starts_at, ends_at)
        row = _create(someone, stand_in, during, _bounded(reason), None)
        telling.tell_stand_in(row, ends_at)
    return row


def delegation_revoke(*, actor: Person | None, delegation_id: int) -> Delegation:
    """End it now. The one who gave it, the one who got it, or an admin. Votes that were given stay."""
    with unit_of_work():
        someone = require_signed_in(actor)
        row: Delegation = lock({Delegation: [delegation_id]})[Delegation][delegation_id]
        if someone.pk not in (row.principal_id, row.stand_in_id) and not has_role(someone, Role.ADMIN):
            raise NotFound
        now = clock.now()
        end = to_interval(row.during).end
        if row.revoked_at is not None or (end is not None and end <= now):
            raise Conflict(_("This is over already."))
        row.revoked_at = now
        row.save(update_fields=["revoked_at"])
        audit.record("delegation.revoked", actor=someone, subject=row, before=_plain(row))
    return row


def approval_hand_on(
    *, actor: Person | None, approval_id: int, to_id: int, comment: str = "", version: int | None = None
) -> Delegation:
    """Ask somebody else to decide this one approval; the actor still may. Only who may decide it in their own right.
    Doing it again gives what was handed on before.

    Raises ``NotFound``, ``NotYours``, ``OwnRequest``, ``Invalid``, ``Conflict`` for one that waits for nobody.
    """
    with unit_of_work():
        someone = require_signed_in(actor)
        if not visible_to(someone).filter(pk=approval_id).exists():
            raise NotFound
        approval: Approval = lock({Approval: [approval_id]})[Approval][approval_id]
        steps, people = current_steps([approval]), people_now()
        if approval.pk not in steps or version not in (None, approval.version):
            raise Conflict(_("This changed while you were looking. Nothing was done."))
        own = [d for d in deciders([approval], steps, people)[approval.pk] if d.person_id == someone.pk]
        if not own or own[0].on_behalf_of is not None:
            raise NotYours
        stand_in = _stand_in(someone, to_id, field="to")
        if stand_in.pk in excluded([approval], people)[approval.pk]:
            raise OwnRequest(data={"approval": approval.pk})
        live = Delegation.objects.not_over(clock.now())
        known = live.filter(principal=someone, stand_in=stand_in, approval=approval).first()
        if known is not None:
            return known
        row = _create(someone, stand_in, Interval(clock.now()), _bounded(comment, "comment"), approval)
        telling.tell_handed_on(row, approval)
    return row


def _create(
    principal: Person, stand_in: Person, during: Interval, reason: str, approval: Approval | None
) -> Delegation:
    row = Delegation.objects.create(
        principal=principal,
        stand_in=stand_in,
        approval=approval,
        during=to_range(during),
        reason=reason,
        created_by=principal,
        created_at=clock.now(),
    )
    audit.record("delegation.created", actor=principal, subject=row, after=_plain(row))
    return row


def _stand_in(principal: Person, person_id: int, field: str = "stand_in") -> Person:
    found = Person.objects.filter(pk=person_id, is_active=True, is_service=False).first()
    if found is None:
        raise Invalid({field: _("There is no active person %(id)s.") % {"id": person_id}})
    if found.pk == principal.pk:
        raise Invalid({field: _("Name somebody else: you may decide already.")})
    return found


def _window(starts_at: datetime | None, ends_at: datetime) -> Interval:
    now = clock.now()
    start = max(starts_at or now, now)
    if ends_at <= start:
        text = _("%(at)s is not after the start.")
        raise Invalid({"ends_at": text % {"at": exact_instant(ends_at, organisation_zone())}})
    if ends_at > now + LONGEST:
        text = _("%(at)s is more than five years ahead.")
        raise Invalid({"ends_at": text % {"at": exact_instant(ends_at, organisation_zone())}})
    return Interval(start, ends_at)


def _bounded(text: str, field: str = "reason") -> str:
    tidy = text.strip()
    if len(tidy) > MOST_COMMENT:
        words = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({field: words % {"count": len(tidy), "most": MOST_COMMENT}})
    return tidy


def _plain(row: Delegation) -> dict[str, object]:
    return {
        "principal": row.principal_id,
        "stand_in": row.stand_in_id,
        "approval": row.approval_id,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "reason": row.reason,
    }
