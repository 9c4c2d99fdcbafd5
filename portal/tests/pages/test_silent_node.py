"""A node that falls silent while it drains: its page lets an admin give it up, and its jobs go elsewhere."""

import pytest

from accounts.tests import factories as people
from inventory.models import Node
from inventory.states import NodeState
from scheduling import services
from scheduling.states import JobState
from scheduling.tests import factories


@pytest.mark.django_db
def test_a_draining_node_that_falls_silent_can_be_given_up() -> None:
    fake = factories.node("alpha")
    job = factories.running_job(factories.project(), [fake])
    services.node_drain(actor=factories.admin(), node_id=fake.node.pk)
    address, browser = f"/cluster/nodes/{fake.node.pk}", people.browser(people.admin())
    assert "Declare lost" not in browser.get(address).content.decode()
    factories.fall_silent(fake)
    services.members_lose_sight()
    assert Node.objects.get(pk=fake.node.pk).state == NodeState.DRAINING
    assert "Declare lost" in browser.get(address).content.decode()
    assert browser.post(f"{address}/declare-lost").status_code == 302
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
