"""What the demo's projects are granted, once the nodes that carry it have enrolled."""

from dataclasses import dataclass

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.intervals import Interval
from projects.models import Project
from projects.states import ProjectState
from quotas.models import Claim, Resource
from quotas.selectors import free_between
from quotas.services import GrantSpec, quota_grant, reserve_set

TIB = 1024**4
REASON = "First grant"
RESERVE = 1000
"""Basis points of each model's capacity."""


@dataclass(frozen=True, slots=True)
class Share:
    """GPUs of a model, or without one bytes of storage."""

    project: str
    gpu_model: str | None
    guaranteed: int
    limit: int


# Of eight GPUs of each model the reserve takes one; what stays free is enough for the tour of the README, twice.
SHARES = (
    Share("Long-context pretraining", "h100", 2, 4),
    Share("Long-context pretraining", None, 2 * TIB, 4 * TIB),
    Share("蛋白质结构生成模型", "a100", 1, 2),
    Share(
        "Retrieval-augmented speech translation between low-resource languages,"
        " with terminology that a domain expert keeps",
        "a100",
        1,
        2,
    ),
)


def seed_grants(admin: Person) -> int:
    """Grant what was never granted and can be promised; return how many shares still wait for a node."""
    waiting = 0
    for bare in GpuModel.objects.filter(reserve_facts__isnull=True):
        reserve_set(actor=admin, gpu_model_id=bare.pk, basis_points=RESERVE, reason="For emergencies")
    for share in SHARES:
        project = Project.objects.filter(name=share.project, state=ProjectState.ACTIVE).first()
        if project is None or _was_granted(project, share):
            continue
        model = GpuModel.objects.get(name=share.gpu_model) if share.gpu_model else None
        if model is not None and free_between(model, Interval(clock.now())) <= share.guaranteed:
            waiting += 1
            continue
        spec = GrantSpec(
            project_id=project.pk,
            resource=Resource.GPU if model else Resource.STORAGE,
            gpu_model_id=model.pk if model else None,
            guaranteed=share.guaranteed,
            limit=share.limit,
            reason=REASON,
        )
        quota_grant(actor=admin, grant=spec)
    return waiting


def _was_granted(project: Project, share: Share) -> bool:
    """Whether there ever was a claim: one that an admin ended is not granted again."""
    claims = Claim.objects.filter(project=project)
    if share.gpu_model is None:
        return claims.filter(resource=Resource.STORAGE).exists()
    return claims.filter(gpu_model__name=share.gpu_model).exists()
