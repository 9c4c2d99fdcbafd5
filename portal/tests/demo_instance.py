"""The demo organisation as the solver's instance: its registrations, tiers, quotas and measured suitability."""

from collections.abc import Iterator

from inventory.models import GpuModel as Model
from inventory.selectors import capacity_at
from kernel import clock
from projects.models import Project
from projects.selectors import tier_at
from projects.states import ProjectState
from projects.suitability import suitability_of
from quotas.engine.building import DEFAULT_RULES, DEFAULT_TABLE, Registered, Requested, build
from quotas.engine.instance import GpuModel, Instance
from quotas.models import Resource
from quotas.selectors import quotas_at


def demo_instance() -> Instance:
    """By the default table of stage × tier (REV8)."""
    now = clock.now()
    capacity = {model: capacity_at(now)[model.pk] for model in Model.objects.all() if model.pk in capacity_at(now)}
    models = tuple(GpuModel(model.name, row.capacity, row.reserve) for model, row in capacity.items())
    return build(tuple(_registered()), models, DEFAULT_TABLE, DEFAULT_RULES)


def _registered() -> Iterator[Registered]:
    projects = list(Project.objects.filter(state=ProjectState.ACTIVE).prefetch_related("expected_compute__gpu_model"))
    ids, now = [project.pk for project in projects], clock.now()
    tiers, held, suitability = tier_at(ids, now), quotas_at(now, ids), suitability_of(ids)
    for project in (project for project in projects if project.pk in tiers):
        requests = {}
        for row in project.expected_compute.all():
            had = held.get((project.pk, Resource.GPU, row.gpu_model_id))
            value = float(suitability[project.pk, row.gpu_model_id].value)
            previous = had.guaranteed if had else 0
            requests[row.gpu_model.name] = Requested(row.min, row.target, row.max, value, previous)
        score = 10.0 * (project.breakthrough or 0)
        yield Registered(str(project.pk), tiers[project.pk], score, project.stage, requests)
