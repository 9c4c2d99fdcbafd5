"""What a grant says, checked: amounts, resource and window, and what can be promised in it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from inventory.selectors import host_totals, registered_gpus
from kernel import advisory, clock
from kernel.advisory import AdvisoryLock
from kernel.calendar import organisation_zone
from kernel.errors import Invalid
from kernel.formats import byte_size, exact_instant, number, said_instant
from kernel.intervals import Interval, peak
from kernel.ranges import to_interval, to_range
from quotas.errors import ExceedsFree
from quotas.ledger import steps, tightest
from quotas.models import Resource
from quotas.selectors import live_claims, model_facts
from quotas.windows import LATE

MOST_STORAGE = 2**60
"""1 EiB. Storage is not registered by nodes, so this only stops what is surely a slip."""
MOST_OF_ANYTHING = 2**63 - 1
"""What the column takes."""
_HOST_LOCK = {Resource.CPU: AdvisoryLock.CPU_GRANTS, Resource.MEMORY: AdvisoryLock.MEMORY_GRANTS}
BYTES = frozenset({Resource.MEMORY, Resource.STORAGE})


@dataclass(frozen=True, slots=True)
class Terms:
    """One grant's content, for whatever holder. ``effective_from`` None: now; ``limit`` None: no limit."""

    resource: str
    gpu_model_id: int | None
    guaranteed: int
    limit: int | None
    effective_from: datetime | None
    effective_to: datetime | None
    reason: str


def window(terms: Terms) -> Interval:
    """When the grant is in force. Raises ``Invalid`` for a start in the past or an end before the start."""
    return start_and_end(terms.effective_from, terms.effective_to)


def start_and_end(effective_from: datetime | None, effective_to: datetime | None) -> Interval:
    """From now on if no start is named. Raises ``Invalid`` for a start in the past or an end before the start."""
    now = clock.now()
    start = effective_from or now
    if start < now - LATE:
        text = _("%(at)s lies in the past; what was in force then stays as it was.")
        raise Invalid({"effective_from": text % {"at": exact_instant(start, organisation_zone())}})
    start = max(start, now)
    if effective_to is not None and effective_to <= start:
        text = _("%(at)s is not after the start.")
        raise Invalid({"effective_to": text % {"at": exact_instant(effective_to, organisation_zone())}})
    return Interval(start, effective_to)


def check_shape(terms: Terms) -> None:
    """Refuse what makes no sense before anything is locked."""
    errors: dict[str, str] = {}
    if terms.resource not in Resource.values:
        text = _("“%(value)s” is not one of: %(allowed)s.")
        errors["resource"] = text % {"value": terms.resource[:40], "allowed": ", ".join(Resource.values)}
    elif (terms.resource == Resource.GPU) != (terms.gpu_model_id is not None):
        errors["gpu_model"] = _("Needed for GPUs, and only for them.")
    if terms.guaranteed < 0:
        errors["guaranteed"] = _("%(value)s: 0 or more.") % {"value": terms.guaranteed}
    for name, value in (("guaranteed", terms.guaranteed), ("limit", terms.limit or 0)):
        if value > MOST_OF_ANYTHING:
            errors[name] = _("%(value)s: this is more than there can be of anything.") % {"value": str(value)[:24]}
    if terms.limit is not None and terms.limit < terms.guaranteed:
        text = _("%(limit)s is less than the guarantee of %(guaranteed)s.")
        errors["limit"] = text % {"limit": terms.limit, "guaranteed": terms.guaranteed}
    if errors:
        raise Invalid(errors)


def check_amounts(terms: Terms, model: GpuModel | None, during: Interval, without: Collection[int]) -> None:
    """Refuse what cannot be promised through all of ``during``, the claims ``without`` not counted.

    For GPUs the caller holds the model's lock; for CPU and memory this takes a lock of its own, which orders
    grants of that resource among themselves.
    """
    if model is not None:
        _check_gpus(terms, model, during, without)
    elif terms.resource == Resource.STORAGE:
        largest = max(terms.guaranteed, terms.limit or 0)
        if largest > MOST_STORAGE:
            text = _("%(asked)s asked; at most %(most)s can be granted at once.")
            words = text % {"asked": byte_size(largest), "most": byte_size(MOST_STORAGE)}
            raise Invalid({"guaranteed" if terms.guaranteed > MOST_STORAGE else "limit": words})
    else:
        _check_host(terms, during, without)


def _check_gpus(terms: Terms, model: GpuModel, during: Interval, without: Collection[int]) -> None:
    facts = model_facts([model.pk], during, without_claims=without)[model.pk]
    tight = tightest(facts, during)
    free = max(0, tight.free)
    if terms.guaranteed > free:
        text = _(
            "%(model)s: %(asked)s asked, %(free)s of %(usable)s usable GPUs are free in this window; "
            "it is tightest on %(at)s. A platform admin can lower other quotas or add capacity."
        )
        words = text % {
            "model": model.title,
            "asked": number(terms.guaranteed),
            "free": number(free),
            "usable": number(tight.usable),
            "at": said_instant(tight.at, organisation_zone()),
        }
        numbers = {"asked": terms.guaranteed, "free": free, "usable": tight.usable, "at": tight.at.isoformat()}
        raise _exceeds("guaranteed", words, gpu_model=model.name, **numbers)
    most = max(max(step.capacity for step in steps(facts, during)), registered_gpus(model.pk), terms.guaranteed)
    if terms.limit is not None and terms.limit > most:
        text = _("%(model)s: a limit of %(asked)s asked, there are %(most)s GPUs. Leave it empty for no limit.")
        words = text % {"model": model.title, "asked": number(terms.limit), "most": number(most)}
        raise _exceeds("limit", words, gpu_model=model.name, asked=terms.limit, most=most)


def _check_host(terms: Terms, during: Interval, without: Collection[int]) -> None:
    resource = Resource(terms.resource)
    advisory.take(_HOST_LOCK[resource])
    total = host_totals().of(resource)
    claims = live_claims().filter(resource=resource, during__overlap=to_range(during)).exclude(pk__in=list(without))
    rows = [(to_interval(r), amount) for r, amount in claims.values_list("during", "guaranteed")]
    free = max(0, total - peak(rows, during)[0])
    amounts = (("guaranteed", terms.guaranteed, free), ("limit", terms.limit or 0, total))
    for field, asked, most in amounts:
        if asked > most:
            text = _("%(resource)s: %(asked)s asked, %(most)s of %(total)s on the registered nodes can be given.")
            words = text % {
                "resource": resource.label,
                "asked": _amount(resource, asked),
                "most": _amount(resource, most),
                "total": _amount(resource, total),
            }
            raise _exceeds(field, words, asked=asked, free=most, usable=total)


def _amount(resource: Resource, value: int) -> str:
    return byte_size(value) if resource in BYTES else number(value)


def _exceeds(field: str, words: str, **numbers: object) -> ExceedsFree:
    refusal = ExceedsFree({field: words})
    refusal.data |= numbers
    return refusal
