"""What a request asks for, with what who decides would have otherwise, against what its project holds meanwhile."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from inventory.capacity import DatedAmount
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from quotas.models import Claim, ClaimKind, QuotaRequest, Resource
from quotas.raises import Part, Streams, Totals, added, held, missing
from quotas.selectors import live_claims

CHANGEABLE = ("guaranteed", "limit", "ends_at")
APART = timedelta(days=30)
"""Raises that the portal grants by itself and that lie less far apart count as one length of time."""
Key = tuple[int, int]
"""Project and GPU model."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Totals during a window; ``ends_at`` None: the base from then on, otherwise a temporary raise."""

    totals: Totals
    starts_at: datetime | None
    ends_at: datetime | None

    @property
    def is_temporary(self) -> bool:
        return self.ends_at is not None

    def window(self, now: datetime) -> Interval | None:
        """From now on if its start has passed; None where its end has passed too."""
        start = max(self.starts_at or now, now)
        return None if self.ends_at is not None and self.ends_at <= start else Interval(start, self.ends_at)


def asked_of(request: QuotaRequest, changes: Mapping[str, Any] | None = None) -> Asked:
    """What this request asks for, changed by an approval's ``changes``. It states a guarantee."""
    plain = changes or {}
    ends_at = plain.get("ends_at", request.ends_at)
    if isinstance(ends_at, str):
        ends_at = datetime.fromisoformat(ends_at)
    totals = Totals(int(plain.get("guaranteed", request.guaranteed or 0)), plain.get("limit", request.limit))
    return Asked(totals, request.starts_at, ends_at)


@dataclass(frozen=True, slots=True)
class Holdings:
    """The claims of one project on one GPU model that are not over for longer than ``APART``, but emergency ones."""

    claims: tuple[Claim, ...] = ()

    def through(self, within: Interval) -> list[Part]:
        """All that is held, summed."""
        return held(_parts(self.claims), within)

    def base_through(self, within: Interval) -> list[Part]:
        """The base alone: what an open-ended request replaces."""
        return held(_parts(row for row in self.claims if row.kind == ClaimKind.BASE), within)

    def decided_through(self, within: Interval) -> list[Part]:
        """What people granted: raises that the portal granted by itself do not count. Otherwise one small raise on top
        of another would each pass for small."""
        people = (row for row in self.claims if row.kind != ClaimKind.TEMPORARY or row.granted_by_id is not None)
        return held(_parts(people), within)

    def added(self, asked: Asked, within: Interval) -> list[DatedAmount]:
        """What granting it adds to what is guaranteed, dated; negative where it gives back."""
        rows = [(row, (to_interval(row.during), row.guaranteed)) for row in self.claims]
        raised = tuple(amount for row, amount in rows if row.kind == ClaimKind.TEMPORARY)
        streams = Streams(tuple(amount for _row, amount in rows), raised)
        return added(asked.totals, streams, within, is_on_top=asked.is_temporary)

    def automatic(self, near: Interval) -> list[Interval]:
        """When raises that the portal granted by itself are in force, of those that touch an interval."""
        rows = (row for row in self.claims if row.kind == ClaimKind.TEMPORARY and row.granted_by_id is None)
        return [during for row in rows if (during := to_interval(row.during)).overlaps(near)]

    def replaced_through(self, asked: Asked, within: Interval) -> list[Part]:
        """What ``asked`` is compared with: all for a raise on top, the base for what replaces it."""
        return self.through(within) if asked.is_temporary else self.base_through(within)

    def on_top(self, asked: Asked, within: Interval) -> list[Part]:
        """The claims that a temporary raise would need now, so that its totals are held."""
        return missing(asked.totals, self.through(within))


def holdings_of(request: QuotaRequest, since: datetime) -> Holdings:
    """Of the request's project and GPU model, from an instant on. One statement."""
    key = (request.project_id, request.gpu_model_id or 0)
    return holdings([key], since)[key]


def holdings(keys: Collection[Key], since: datetime) -> defaultdict[Key, Holdings]:
    """The same for many, in one statement; what ended within ``APART`` before is among them."""
    rows = live_claims().filter(
        project__in={project for project, _model in keys},
        gpu_model__in={model for _project, model in keys},
        resource=Resource.GPU,
        during__overlap=to_range(Interval(since - APART)),
    )
    by_key: defaultdict[Key, list[Claim]] = defaultdict(list)
    for row in rows.exclude(kind=ClaimKind.EMERGENCY).order_by("pk"):
        by_key[row.project_id or 0, row.gpu_model_id or 0].append(row)
    return defaultdict(Holdings, {key: Holdings(tuple(found)) for key, found in by_key.items()})


def least_guaranteed(parts: Sequence[Part]) -> int:
    """What is guaranteed throughout."""
    return min(part.guaranteed for part in parts)


def kept_by(asked: Asked, parts: Sequence[Part]) -> Totals:
    """The least that takes nothing away from what is held in these parts. A raise on top never takes; it has to reach
    what is held throughout. A base takes the place of all of them: it has to reach the most."""
    bound = min if asked.is_temporary else max
    guaranteed = bound(part.guaranteed for part in parts)
    limits = [part.shown_limit for part in parts]
    stated = [limit for limit in limits if limit is not None]
    has_none = not stated if asked.is_temporary else None in limits
    return Totals(guaranteed, None if has_none else bound(stated))


def most_guaranteed(parts: Sequence[Part]) -> int:
    """What is guaranteed at most at an instant."""
    return max(part.guaranteed for part in parts)


def _parts(claims: Iterable[Claim]) -> list[Part]:
    return [Part(to_interval(row.during), row.guaranteed, row.limit) for row in claims]
