"""A list of the API takes as many statements for many rows as for few."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.services import AnnouncementSpec, announcement_publish
from accounts.tests import factories as people
from accounts.tests.told import failed, told
from approvals.services import approval_comment, delegation_create
from inventory.models import GpuModel
from inventory.services import EnrolmentSpec, enrolment_token_issue
from kernel import clock
from portal.pages.views.services import ViewSpec, view_create
from portal.tests.api.calls import address
from portal.tests.api.document import Operation, operations
from portal.tests.api.samples import queries
from portal.tests.api.world import World
from projects.models import Project, ProjectImport
from projects.services import Stated, area_create, measurement_state
from projects.tests import factories as registry
from projects.tests import import_factories
from quotas.services import AreaGrantSpec, RequestFacts, area_grant, attachment_add, request_create
from scheduling.tests import factories as cluster

pytestmark = pytest.mark.django_db

LISTS = [operation for operation in operations() if "page_size" in queries(operation)]
MORE = 3


def statements(client: Client, path: str) -> tuple[int, int]:
    """How many statements a call takes, and how many rows it answers with; the second time, when all is warm."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer: Any = client.get(path)
    assert answer.status_code == 200, path
    return len(captured), answer.json()["count"]


def grow(world: World) -> None:
    """More of everything that the API lists."""
    admin, lead = world.people["admin"], world.people["lead"]
    active = Project.objects.get(pk=world.ids["projects"][0])
    fake = cluster.node(gpus=8)
    model = GpuModel.objects.get(name="h100")
    for index in range(MORE):
        area = area_create(actor=admin, name=f"area-{index}", title="Area")
        area_grant(actor=admin, grant=AreaGrantSpec(area.pk, 1, gpu_model_id=model.pk))
        cluster.node(gpus=2, model=cluster.OTHER_MODEL, where=cluster.pool(f"pool-{index}"))
        member = people.person()
        other = registry.active_project(lead=lead, researchers=(member,), area=area.name)
        registry.enrol(active, people.person())
        cluster.grant(other, 1, 2, model=model)
        cluster.job(other, name="waits")
        people.token(admin)
        view_create(actor=admin, spec=ViewSpec(f"View {index}", "state=active"))
        announcement_publish(actor=admin, spec=AnnouncementSpec("announcement", f"News {index}"))
        failed(told(admin))
        stated = Stated(model.name, Decimal(100 + index), "tokens/s", "Another run")
        measurement_state(actor=lead, project_id=active.pk, stated=stated)
        enrolment_token_issue(actor=admin, spec=EnrolmentSpec(f"later-{index}", world.ids["pools"][0]))
        asked: RequestFacts = {"gpu_model_id": model.pk, "guaranteed": index, "reason": "A run"}
        request_create(actor=lead, project_id=active.pk, facts=asked)
        draft = world.targets["quota-requests attachments"]
        attachment_add(actor=lead, request_id=draft, name=f"plan-{index}.txt", content=b"A plan")
        until = clock.now() + timedelta(days=1 + index)
        delegation_create(actor=admin, stand_in_id=lead.pk, starts_at=None, ends_at=until, reason="away")
        approval_comment(actor=admin, approval_id=world.targets["approvals comments"], text=f"Remark {index}")
    cluster.running_job(active, [fake], name="more")
    import_factories.longer(ProjectImport.objects.get(pk=world.ids["project-imports"][0]))
    import_factories.checked(admin)


@pytest.mark.parametrize("operation", LISTS, ids=str)
def test_more_rows_take_no_more_statements(operation: Operation, world: World) -> None:
    path = address(world, operation)
    client = Client(headers={"Authorization": f"Bearer {world.tokens['admin']}"})
    few, rows_before = statements(client, path)
    grow(world)
    many, rows_after = statements(client, path)
    assert many == few
    if operation.path not in ("/api/v1/gpu-models/", "/api/v1/jobs/{id}/events/", "/api/v1/approval-policies/"):
        assert rows_after > rows_before
