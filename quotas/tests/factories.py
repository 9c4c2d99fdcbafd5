"""Capacity and quotas for tests, made by the same acts as in life."""

from typing import Any

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import GpuModel, Node
from inventory.tests import factories as machines
from kernel import clock
from projects.models import Project, ResearchArea
from quotas import services
from quotas.models import Claim


def granter() -> Person:
    """The admin who grants: no member of any project."""
    return Person.objects.filter(username="granter").first() or people.admin("granter")


def capacity(gpus: int = 8, name: str = "n1", reserve: int = 0) -> tuple[GpuModel, Node]:
    """An enrolled node with this many H100, and a reserve in basis points."""
    node, _answer = machines.enrolled(granter(), name, gpus)
    model = GpuModel.objects.get(name="h100")
    if reserve:
        services.reserve_set(actor=granter(), gpu_model_id=model.pk, basis_points=reserve)
    return model, node


def grant(project: Project, model: GpuModel, guaranteed: int, **terms: Any) -> Claim:
    spec = services.GrantSpec(project.pk, guaranteed, gpu_model_id=model.pk, **terms)
    return services.quota_grant(actor=terms.pop("actor", None) or granter(), grant=spec)


def raw_claim(project: Project | None, model: GpuModel, guaranteed: int, during: Any, **fields: Any) -> Claim:
    """A claim written past every service, as a script or a person at the database would."""
    return Claim.objects.create(
        project=project,
        resource="gpu",
        gpu_model=model,
        guaranteed=guaranteed,
        during=during,
        granted_at=clock.now(),
        **fields,
    )


def area(name: str = "vision") -> ResearchArea:
    return ResearchArea.objects.get_or_create(name=name, defaults={"title": name.capitalize()})[0]
