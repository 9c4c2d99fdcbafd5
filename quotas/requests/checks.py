"""What of a request cannot be taken, as a sentence by field. Nothing here writes."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from inventory.selectors import registered_gpus
from kernel.calendar import organisation_zone
from kernel.formats import exact_instant, number
from kernel.intervals import Interval
from quotas.ledger import steps
from quotas.models import QuotaRequest
from quotas.raises import Part
from quotas.requests.asking import Asked, Holdings, asked_of, least_guaranteed, most_guaranteed
from quotas.selectors import model_facts
from quotas.windows import LATE

MOST_REASON = 2000
MOST_GPUS = 2**31 - 1
"""What nobody needs a catalogue to refuse."""
MOST_AHEAD = timedelta(days=5 * 366)
AMOUNTS = ("guaranteed", "limit", "least")
Faults = dict[str, str]


def shape_faults(request: QuotaRequest, stated: Collection[str], now: datetime) -> Faults:
    """What is wrong with these stated fields by themselves and beside each other; a draft may lack anything."""
    faults: Faults = {}
    for field in AMOUNTS:
        value = getattr(request, field)
        if value is not None and not 0 <= value <= MOST_GPUS:
            faults[field] = _("%(value)s: whole GPUs from 0 to what there is.") % {"value": str(value)[:24]}
    if len(request.reason) > MOST_REASON:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        faults["reason"] = text % {"count": len(request.reason), "most": MOST_REASON}
    if not faults:
        faults |= _order_faults(request) | _window_faults(request, stated, now)
    if not faults and request.gpu_model is not None and {*AMOUNTS, "gpu_model"} & set(stated):
        faults |= _capacity_faults(request, request.gpu_model, now)
    return faults


def missing_faults(request: QuotaRequest) -> Faults:
    """What a draft still lacks to be submitted."""
    faults: Faults = {}
    if request.gpu_model is None:
        faults["gpu_model"] = _("Choose a GPU model.")
    if request.guaranteed is None:
        faults["guaranteed"] = _("Say how many GPUs the project is to be guaranteed altogether.")
    if not request.reason.strip():
        faults["reason"] = _("Say what it is for: whoever decides reads this first.")
    return faults


def purpose_faults(request: QuotaRequest, holdings: Holdings, now: datetime) -> Faults:
    """Whether it asks for something that its project does not hold already, and for nothing that cannot be."""
    asked = asked_of(request)
    window = asked.window(now)
    if window is None:
        return {"ends_at": _in_the_past(asked.ends_at or now)}
    if asked.is_temporary:
        return _raise_faults(asked, holdings.through(window))
    parts = holdings.base_through(window)
    same = (asked.totals.guaranteed, asked.totals.limit)
    if all((part.guaranteed, part.shown_limit) == same for part in parts):
        return {"guaranteed": _("This is what the project has already.")}
    least, most = least_guaranteed(parts), most_guaranteed(parts)
    if least < asked.totals.guaranteed < most:
        text = _(
            "From then on the project is guaranteed %(least)s for a while and %(most)s for another: %(asked)s would "
            "add to the one and take from the other. Ask for %(most)s or more, for %(least)s or less, or from another "
            "day on."
        )
        words = {"least": number(least), "most": number(most), "asked": number(asked.totals.guaranteed)}
        return {"guaranteed": text % words}
    return {}


def _raise_faults(asked: Asked, parts: list[Part]) -> Faults:
    """A raise for a time comes on top: it cannot take anything away."""
    throughout = least_guaranteed(parts)
    if asked.totals.guaranteed < throughout:
        text = _(
            "The project is guaranteed %(held)s in this window; a raise for a time cannot be less. "
            "Ask without an end to give something back."
        )
        return {"guaranteed": text % {"held": number(throughout)}}
    limit = asked.totals.limit
    if limit is not None and all(part.shown_limit is None or part.shown_limit > limit for part in parts):
        return {"limit": _("The project has a higher limit in this window; a raise for a time cannot lower it.")}
    is_more = any(asked.totals.guaranteed > part.guaranteed or _is_more(limit, part.shown_limit) for part in parts)
    return {} if is_more else {"guaranteed": _("This is what the project has already in this window.")}


def _is_more(asked: int | None, has: int | None) -> bool:
    return has is not None and (asked is None or asked > has)


def _order_faults(request: QuotaRequest) -> Faults:
    guaranteed, faults = request.guaranteed, Faults()
    if guaranteed is None:
        return faults
    if request.limit is not None and request.limit < guaranteed:
        text = _("%(limit)s is less than the guarantee of %(guaranteed)s.")
        faults["limit"] = text % {"limit": number(request.limit), "guaranteed": number(guaranteed)}
    if request.least is not None and request.least > guaranteed:
        text = _("%(least)s is more than the guarantee of %(guaranteed)s that is asked for.")
        faults["least"] = text % {"least": number(request.least), "guaranteed": number(guaranteed)}
    return faults


def _window_faults(request: QuotaRequest, stated: Collection[str], now: datetime) -> Faults:
    faults: Faults = {}
    starts_at, ends_at = request.starts_at, request.ends_at
    for field, at in (("starts_at", starts_at), ("ends_at", ends_at)):
        if at is None or field not in stated:
            continue
        if at < now - LATE:
            faults[field] = _in_the_past(at)
        elif at > now + MOST_AHEAD:
            faults[field] = _("%(at)s is more than five years ahead.") % {"at": _exact(at)}
    if "ends_at" not in faults and starts_at is not None and ends_at is not None and ends_at <= starts_at:
        faults["ends_at"] = _("%(at)s is not after the start.") % {"at": _exact(ends_at)}
    return faults


def _capacity_faults(request: QuotaRequest, model: GpuModel, now: datetime) -> Faults:
    """Nobody can be promised more than there is; what is promised to others already is for who decides to see."""
    within = asked_of(request).window(now) or Interval(now)
    ledger = steps(model_facts([model.pk], within)[model.pk], within)
    usable = max(0, *(step.usable for step in ledger))
    there = max(registered_gpus(model.pk), *(step.capacity for step in ledger))
    if request.guaranteed is not None and request.guaranteed > usable:
        text = _(
            "%(model)s: %(asked)s asked; of %(there)s GPUs %(usable)s can be guaranteed to projects. "
            "A platform admin can add capacity or lower the reserve."
        )
        words = {"asked": number(request.guaranteed), "there": number(there), "usable": number(usable)}
        return {"guaranteed": text % {"model": model.title, **words}}
    if request.limit is not None and request.limit > there:
        text = _(
            "%(model)s: a limit of %(asked)s asked, there are %(there)s GPUs. Leave it empty for no limit; "
            "a platform admin can add capacity."
        )
        words = {"asked": number(request.limit), "there": number(there)}
        return {"limit": text % {"model": model.title, **words}}
    return {}


def _in_the_past(at: datetime) -> str:
    return _("%(at)s lies in the past.") % {"at": _exact(at)}


def _exact(at: datetime) -> str:
    return exact_instant(at, organisation_zone())
