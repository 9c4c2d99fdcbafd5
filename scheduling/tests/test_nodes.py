"""Draining, maintaining, removing and giving up nodes: no job is lost silently (INV5)."""

from datetime import timedelta

import pytest

from accounts.tests import factories as people
from inventory.models import Node
from inventory.states import NodeState
from kernel.errors import Conflict, Forbidden, IllegalTransition, NotFound
from kernel.models import AuditEntry
from quotas.errors import PromisesExceed
from scheduling import selectors, services
from scheduling.errors import NodeNotEmpty
from scheduling.models import DeviceAllocation
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_a_draining_node_takes_nothing_new_and_lets_run_what_runs() -> None:
    fake = make.node()
    project = make.project()
    job = make.running_job(project, [fake])
    services.node_drain(actor=make.admin(), node_id=fake.node.pk, reason="new driver")
    waiting = make.job(project)
    assert make.decide() == []
    waiting.refresh_from_db()
    assert waiting.reason_code == "node_state"
    assert fake.sync().stop == ()
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    services.node_undrain(actor=make.admin(), node_id=fake.node.pk)
    assert make.decide() == [waiting.pk]


def test_the_impact_names_who_would_be_hurt_and_until_when() -> None:
    fake = make.node()
    project = make.project()
    assert selectors.drain_impact(fake.node).jobs == []
    assert selectors.drain_impact(fake.node).is_empty_by is None
    job = make.running_job(project, [fake], max_runtime_s=3600, milli_gpus=2000)
    impact = selectors.drain_impact(fake.node)
    attempt = make.attempt_of(job)
    assert attempt.started_at is not None
    assert [(hurt.job.pk, hurt.ends_by) for hurt in impact.jobs] == [
        (job.pk, attempt.started_at + timedelta(seconds=3600))
    ]
    assert impact.milli_gpus == 2000
    assert impact.is_empty_by == impact.jobs[0].ends_by
    make.running_job(project, [fake])
    assert selectors.drain_impact(fake.node).is_empty_by is None
    held = fake.node.devices.filter(allocations__released_at__isnull=True, allocations__isnull=False)
    assert list(held.order_by("index")) == list(fake.node.devices.order_by("index")[:3])


def test_a_node_that_is_not_empty_is_neither_maintained_nor_removed() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    services.node_drain(actor=make.admin(), node_id=fake.node.pk)
    for act in (services.node_maintain, services.node_remove):
        with pytest.raises(NodeNotEmpty) as refused:
            act(actor=make.admin(), node_id=fake.node.pk)
        assert refused.value.data["jobs"] == [job.pk]
    [member] = make.members_of(job)
    fake.end(member.pk)
    fake.sync()
    assert services.node_maintain(actor=make.admin(), node_id=fake.node.pk).state == NodeState.MAINTENANCE


def test_removing_takes_the_gpus_out_of_capacity_unless_they_are_promised() -> None:
    fake, _other = make.node(), make.node()
    project = make.project(gpus=10, limit=16)
    services.node_drain(actor=make.admin(), node_id=fake.node.pk)
    with pytest.raises(PromisesExceed):
        services.node_remove(actor=make.admin(), node_id=fake.node.pk)
    assert Node.objects.get(pk=fake.node.pk).state == NodeState.DRAINING
    make.grant(project, 8)
    assert services.node_remove(actor=make.admin(), node_id=fake.node.pk).state == NodeState.REMOVED


def test_a_node_that_was_given_up_is_free_when_it_is_removed() -> None:
    fake, _other = make.node(), make.node()
    job = make.running_job(make.project(), [fake, _other])
    [member] = make.members_of(job)
    lost = fake if member.node_id == fake.node.pk else _other
    make.fall_silent(lost)
    services.members_lose_sight()
    services.node_declare_lost(actor=make.admin(), node_id=lost.node.pk)
    assert DeviceAllocation.objects.filter(released_at=None).count() == 1
    services.node_drain(actor=make.admin(), node_id=lost.node.pk)
    services.node_remove(actor=make.admin(), node_id=lost.node.pk)
    assert not DeviceAllocation.objects.filter(released_at=None).exists()


def test_a_node_that_still_reports_is_not_declared_lost() -> None:
    fake = make.node()
    with pytest.raises(Conflict):
        services.node_declare_lost(actor=make.admin(), node_id=fake.node.pk)


@pytest.mark.parametrize("act", ["node_drain", "node_undrain", "node_maintain", "node_remove", "node_declare_lost"])
def test_only_an_admin_acts_on_nodes(act: str) -> None:
    fake = make.node()
    for someone in (people.person(), people.director(), people.auditor()):
        with pytest.raises(Forbidden):
            getattr(services, act)(actor=someone, node_id=fake.node.pk)
    with pytest.raises(NotFound):
        getattr(services, act)(actor=make.admin(), node_id=fake.node.pk + 999)


def test_acts_are_in_the_audit_log_and_refused_in_the_wrong_state() -> None:
    fake = make.node()
    services.node_drain(actor=make.admin(), node_id=fake.node.pk, reason="dust")
    entry = AuditEntry.objects.get(action="node.drain")
    assert (entry.before, entry.after) == ({"state": "up"}, {"state": "draining", "reason": "dust"})
    with pytest.raises(IllegalTransition):
        services.node_drain(actor=make.admin(), node_id=fake.node.pk)
