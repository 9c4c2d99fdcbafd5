"""What an admin does with a node over the API: in order, and never with a job on it by accident (INV5)."""

import pytest

from accounts.tests import factories as people
from inventory.models import CapacityFact
from kernel import clock
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_drain_maintain_and_back() -> None:
    fake, admin = make.node(), people.api_client(make.admin())
    address = f"/api/v1/nodes/{fake.node.pk}"
    assert admin.post(f"{address}/drain", {"reason": "dust"}).json()["state"] == "draining"
    assert admin.post(f"{address}/drain").status_code == 409
    assert admin.post(f"{address}/maintain").json()["state"] == "maintenance"
    assert admin.post(f"{address}/undrain").json()["state"] == "up"


def test_a_node_with_a_job_is_not_removed_and_an_empty_one_is() -> None:
    fake, admin = make.node(), people.api_client(make.admin())
    address = f"/api/v1/nodes/{fake.node.pk}"
    job = make.running_job(make.project(gpus=0, limit=None), [fake], is_preemptible=True)
    admin.post(f"{address}/drain")
    refused = admin.post(f"{address}/remove")
    assert (refused.status_code, refused.json()["code"], refused.json()["jobs"]) == (409, "node_not_empty", [job.pk])
    (member,) = fake.held
    fake.end(member)
    fake.sync()
    assert admin.post(f"{address}/remove").json()["state"] == "removed"
    assert not CapacityFact.objects.filter(node=fake.node, during__contains=clock.now()).exists()


def test_a_silent_node_is_given_up_and_its_job_queued_again() -> None:
    fake, admin = make.node(), people.api_client(make.admin())
    job = make.running_job(make.project(), [fake])
    address = f"/api/v1/nodes/{fake.node.pk}/declare-lost"
    assert admin.post(address).status_code == 409
    make.fall_silent(fake)
    assert admin.post(address, {"reason": "burnt"}).status_code == 200
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_node_that_is_not_there_is_404() -> None:
    assert people.api_client(make.admin()).post("/api/v1/nodes/999999/drain").status_code == 404
