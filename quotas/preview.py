"""What a grant would do, before it is made: what is free in its window, and which claims it would replace."""

from dataclasses import dataclass
from datetime import datetime

from inventory.models import GpuModel
from kernel import clock
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from projects.models import Project
from quotas.ledger import Entry, LedgerStep, supersede, tightest
from quotas.models import Claim, ClaimKind, Resource
from quotas.selectors import live_claims, model_facts


@dataclass(frozen=True, slots=True)
class Replaced:
    """One claim that the grant meets. ``is_void``: it never begins. ``goes_on_at``: it resumes afterwards."""

    claim: Claim
    is_void: bool
    goes_on_at: datetime | None


@dataclass(frozen=True, slots=True)
class Preview:
    """``tight`` is None for what is not a GPU."""

    during: Interval
    tight: LedgerStep | None
    replaced: tuple[Replaced, ...]

    @property
    def free(self) -> int | None:
        return None if self.tight is None else max(0, self.tight.free)


def grant_preview(
    *,
    project: Project,
    resource: str,
    gpu_model: GpuModel | None,
    effective_from: datetime | None = None,
    effective_to: datetime | None = None,
) -> Preview | None:
    """The consequence of a base grant to this project in this window; None for a window that makes no sense."""
    now = clock.now()
    start = max(effective_from or now, now)
    if effective_to is not None and effective_to <= start:
        return None
    during = Interval(start, effective_to)
    claims = live_claims().filter(
        project=project, resource=resource, gpu_model=gpu_model, kind=ClaimKind.BASE, during__overlap=to_range(during)
    )
    rows = {claim.pk: claim for claim in claims}
    plan = supersede([Entry(pk, to_interval(row.during), row.guaranteed) for pk, row in rows.items()], during)
    goes_on = {entry.id: rest.start for entry, rest in plan.continued}
    void = {entry.id for entry in plan.voided}
    replaced = tuple(Replaced(row, pk in void, goes_on.get(pk)) for pk, row in sorted(rows.items()))
    tight = None
    if resource == Resource.GPU and gpu_model is not None:
        tight = tightest(model_facts([gpu_model.pk], during, without_claims=rows)[gpu_model.pk], during)
    return Preview(during, tight, replaced)
