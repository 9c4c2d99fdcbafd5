"""What runs under a guarantee, as the room below is told."""

import pytest

from inventory.models import GpuModel
from projects.tests.factories import active_project
from scheduling.selectors.protected import protected_now
from scheduling.tests import factories as cluster

pytestmark = pytest.mark.django_db


def test_only_what_is_not_preemptible_and_runs_is_protected() -> None:
    fake = cluster.node("node-a", gpus=8)
    project, other = active_project(), active_project()
    cluster.grant(project, 4, 8)
    cluster.running_job(project, [fake], name="kept", is_preemptible=False)
    model = GpuModel.objects.get(name="h100")
    found = protected_now([project.pk, other.pk])
    assert list(found) == [(project.pk, model.pk)]
    assert all(gpus > 0 for gpus in found[project.pk, model.pk])
    assert protected_now([other.pk]) == {}
