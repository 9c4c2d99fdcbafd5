"""What who decides may change: only ever less than is asked, never less than is held where a raise was asked for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from approvals.models import Approval
from kernel import clock
from kernel.calendar import organisation_zone
from kernel.errors import Invalid
from kernel.formats import exact_instant, number
from quotas.models import QuotaRequest
from quotas.requests.asking import CHANGEABLE, Asked, asked_of, holdings_of, kept_by

Faults = dict[str, str]


def checked(approval: Approval, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All changes so far as plain values, these on top. Raises ``Invalid`` by field."""
    request = QuotaRequest.objects.get(pk=approval.subject_id)
    before = asked_of(request, approval.changes)
    plain, faults = _read(changes)
    if not faults:
        after = asked_of(request, {**approval.changes, **plain})
        faults = _more_faults(before, after) | _end_faults(before, after, clock.now()) | _held_faults(request, after)
    if faults:
        raise Invalid(faults)
    return {**approval.changes, **plain}


def _read(changes: Mapping[str, Any]) -> tuple[dict[str, Any], Faults]:
    plain: dict[str, Any] = {}
    faults: Faults = {}
    for field, value in changes.items():
        if field not in CHANGEABLE:
            text = _("%(field)s cannot be changed by who decides; allowed: %(allowed)s.")
            faults[str(field)[:40]] = text % {"field": str(field)[:40], "allowed": ", ".join(CHANGEABLE)}
        elif field == "ends_at":
            at = _instant(value)
            if at is None:
                faults[field] = _("“%(value)s” is no instant with its time zone.") % {"value": str(value)[:40]}
            else:
                plain[field] = at.isoformat()
        elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
            faults[field] = _("“%(value)s” is no whole number of GPUs.") % {"value": str(value)[:40]}
        else:
            plain[field] = value
    return plain, faults


def _instant(value: Any) -> datetime | None:
    """An instant, or its text in ISO 8601 with an offset, in UTC. None for anything else, beyond the calendar too."""
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return at.astimezone(UTC) if at.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _more_faults(before: Asked, after: Asked) -> Faults:
    faults: Faults = {}
    old, new = before.totals, after.totals
    if new.guaranteed > old.guaranteed:
        text = _("%(value)s is more than the %(asked)s that is asked for.")
        faults["guaranteed"] = text % {"value": number(new.guaranteed), "asked": number(old.guaranteed)}
    if new.limit is not None and old.limit is not None and new.limit > old.limit:
        text = _("%(value)s is more than the %(asked)s that is asked for.")
        faults["limit"] = text % {"value": number(new.limit), "asked": number(old.limit)}
    elif new.limit is not None and new.limit < new.guaranteed:
        text = _("%(limit)s is less than the guarantee of %(guaranteed)s.")
        faults["limit"] = text % {"limit": number(new.limit), "guaranteed": number(new.guaranteed)}
    return faults


def _end_faults(before: Asked, after: Asked, now: datetime) -> Faults:
    if after.ends_at is None or after.ends_at == before.ends_at:
        return {}
    exact = exact_instant(after.ends_at, organisation_zone())
    if before.ends_at is not None and after.ends_at > before.ends_at:
        return {"ends_at": _("%(at)s is later than is asked for.") % {"at": exact}}
    if after.window(now) is None:
        return {"ends_at": _("%(at)s is not ahead, or not after the start.") % {"at": exact}}
    return {}


def _held_faults(request: QuotaRequest, after: Asked) -> Faults:
    """Less than is held would turn a raise into a cut; and for a time nothing can be taken away."""
    now = clock.now()
    window = after.window(now)
    if window is None or not (request.is_raise or after.is_temporary):
        return {}
    has = kept_by(after, holdings_of(request, now).replaced_through(after, window))
    if after.totals.guaranteed < has.guaranteed:
        text = _("%(value)s is less than the %(held)s that the project has already.")
        return {"guaranteed": text % {"value": number(after.totals.guaranteed), "held": number(has.guaranteed)}}
    limit = after.totals.limit
    if limit != request.limit and limit is not None and has.limit is not None and limit < has.limit:
        text = _("%(value)s is less than the %(held)s that the project has already.")
        return {"limit": text % {"value": number(limit), "held": number(has.limit)}}
    return {}
