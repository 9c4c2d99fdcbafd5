"""The decision on a registration, with what there is of what it asks for."""

from typing import Any

from inventory.capacity import Capacity
from inventory.selectors import capacity_at
from kernel import clock
from portal.pages.registration import Against
from projects.registration.glance import Asked
from projects.selectors import ProjectDetail
from projects.suitability import suitability_of
from projects.views import deciding
from quotas.selectors import promised_at

NOTHING = Capacity(0, 0)


class Decide(deciding.Decide):
    """The registry's page with capacity, reserve and promises of each model beside the request."""

    template = "portal/decide.html"

    def evidence(self, detail: ProjectDetail) -> dict[str, Any]:
        """One ``Against`` for each model asked for, in the order of the request."""
        now, project = clock.now(), detail.project
        models = [row.gpu_model_id for row in detail.expected_compute]
        capacities, promised, rated = capacity_at(now, models), promised_at(now, models), suitability_of([project.pk])
        against = [
            Against(
                row.gpu_model,
                capacities.get(row.gpu_model_id, NOTHING),
                promised.get(row.gpu_model_id, 0),
                rated[project.pk, row.gpu_model_id],
                Asked(row.gpu_model.name, row.min, row.target, row.max),
            )
            for row in detail.expected_compute
        ]
        return {"against": against}
