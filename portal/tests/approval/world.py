"""A world in which every figure of the evidence can be reckoned by hand: 32 GPUs of one model, 4 of them kept back.

Protein (high tier) is guaranteed 4 and runs on 2. Weather (mid) is guaranteed 4 and runs two jobs of 8; Audit (low) is
guaranteed none and runs on 8; what runs above a guarantee may be stopped. In use are 26, free beside the reserve 2.
"""

from dataclasses import dataclass

from accounts.models import Person, Role
from accounts.tests import factories as people
from approvals.models import Approval
from inventory.models import GpuModel
from projects.models import Project, Tier
from projects.services import tier_set
from quotas.models import QuotaRequest
from quotas.services import request_submit, reserve_set
from quotas.tests import asking
from scheduling.tests import factories


@dataclass(frozen=True)
class World:
    """Who asks, who decides, and the model that all is about."""

    lead: Person
    admin: Person
    director: Person
    model: GpuModel
    protein: Project
    weather: Project
    audit: Project

    def ask(self, guaranteed: int, project: Project | None = None, **facts: object) -> Approval:
        """A request that was submitted, of Protein unless another is named."""
        row: QuotaRequest = asking.draft(project or self.protein, self.model, guaranteed, **facts)
        request_submit(actor=asking.lead_of(row.project), request_id=row.pk)
        return asking.approval(row)


def make() -> World:
    """Everything runs already."""
    nodes = [factories.node(f"node-{index}", gpus=8) for index in range(4)]
    model = GpuModel.objects.get(pk=nodes[0].node.devices.all()[0].gpu_model_id)
    reserve_set(actor=factories.admin(), gpu_model_id=model.pk, basis_points=1000, reason="Set by a test")
    lead = people.person("lin", display_name="Lin Yue")
    protein = _project("Protein dynamics", Tier.HIGH, 4, 20, lead)
    weather, audit = _project("Weather at 1 km", Tier.MID, 4), _project("遥感影像分割", Tier.LOW, 0)
    factories.running_job(protein, nodes, milli_gpus=2000)
    for name in ("first", "second"):
        factories.running_job(weather, nodes, name=name, milli_gpus=8000, is_preemptible=True)
    factories.running_job(audit, nodes, milli_gpus=8000, is_preemptible=True)
    admin, director = people.person("brandt", Role.ADMIN), people.person("dora", Role.DIRECTOR)
    return World(lead, admin, director, model, protein, weather, audit)


def _project(name: str, tier: Tier, guaranteed: int, limit: int | None = None, lead: Person | None = None) -> Project:
    made = factories.project(lead, gpus=guaranteed, limit=limit, name=name, stage="training")
    tier_set(actor=factories.admin(), project_id=made.pk, tier=tier, reason="Set by a test")
    return made
