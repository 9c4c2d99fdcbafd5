"""Quotas of the demo organisation's many projects, once its nodes have enrolled: by tier, inside what there is."""

from datetime import datetime

from accounts.models import Person
from inventory.models import CapacityFact, GpuModel, PoolKind
from inventory.selectors import capacity_at
from kernel import audit, clock
from kernel.intervals import Interval
from kernel.ranges import to_range
from kernel.unit import lock, unit_of_work
from portal.demo.fleet import MODELS
from portal.demo.grants import REASON
from portal.demo.organisation import own_random
from portal.demo.wishes import cut, share
from projects.models import ComputeRequest, Stage, Tier, TierFact
from projects.states import ProjectState
from quotas.models import Claim, Resource
from quotas.selectors import promised_at

PROMISED = 80
"""Per cent of a model's usable GPUs that may be promised; a tenth at least stays free for who comes next."""


def seed_promises(admin: Person) -> int:
    """Grant to active projects on the fleet's models, once; return how many it granted."""
    if Claim.objects.filter(gpu_model__name__in=MODELS, project__isnull=False).exists():
        return 0
    with unit_of_work():
        models: dict[int, GpuModel] = lock({GpuModel: _model_ids()})[GpuModel]
        now = clock.now()
        left = _left(models, now)
        claims = [_claim(asked, left, admin, now) for asked in _asking()]
        made = Claim.objects.bulk_create([claim for claim in claims if claim.limit])
        for claim in made:
            after = {"guaranteed": claim.guaranteed, "limit": claim.limit, "reason": REASON}
            audit.record("quota.granted", actor=admin, subject=claim, after=after)
    return len(made)


def _model_ids() -> list[int]:
    return list(GpuModel.objects.filter(name__in=MODELS).values_list("pk", flat=True))


def _left(models: dict[int, GpuModel], now: datetime) -> dict[int, int]:
    """By model: what may still be promised to projects. A dedicated pool's GPUs are its own."""
    capacity, promised = capacity_at(now), promised_at(now)
    left = {}
    for pk in models:
        facts = CapacityFact.objects.filter(gpu_model=pk, pool__kind=PoolKind.DEDICATED, during__contains=now)
        kept = sum(facts.values_list("gpus", flat=True))
        covered = sum(
            Claim.objects.filter(gpu_model=pk, pool__isnull=False, during__contains=now).values_list(
                "guaranteed", flat=True
            )
        )
        usable = capacity[pk].usable if pk in capacity else 0
        left[pk] = max(0, usable * PROMISED // 100 - promised.get(pk, 0) - max(0, kept - covered))
    return left


def _asking() -> list[tuple[ComputeRequest, Tier]]:
    """Projects without a claim by tier, the high ones first, and of those who train first."""
    tiers = dict(TierFact.objects.filter(during__contains=clock.now()).values_list("project_id", "tier"))
    rows = ComputeRequest.objects.filter(
        gpu_model__name__in=MODELS, project__state=ProjectState.ACTIVE, project__claims__isnull=True
    )
    order = list(Tier)
    asked = [(row, Tier(tiers[row.project_id])) for row in rows.select_related("project") if row.project_id in tiers]
    return sorted(
        asked,
        key=lambda pair: (order.index(pair[1]), pair[0].project.stage != Stage.TRAINING, pair[0].project_id),
    )


def _claim(asked: tuple[ComputeRequest, Tier], left: dict[int, int], admin: Person, now: datetime) -> Claim:
    request, tier = asked
    name, stage = request.project.name, Stage(request.project.stage)
    held = cut(share(own_random(name), name, tier, stage), left[request.gpu_model_id])
    left[request.gpu_model_id] -= held.guaranteed
    return Claim(
        project_id=request.project_id,
        resource=Resource.GPU,
        gpu_model_id=request.gpu_model_id,
        guaranteed=held.guaranteed,
        limit=held.limit,
        during=to_range(Interval(now)),
        reason=REASON,
        granted_by=admin,
        granted_at=now,
    )
