"""Dedicated pools hold their GPUs; nodes move with their capacity; capacity and reserve stay above promises."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.tests import factories as people
from inventory.models import CapacityFact, GpuModel, PoolKind
from inventory.services import PoolSpec, node_enrol, pool_create
from inventory.states import NodeState
from inventory.tests import factories as machines
from kernel import clock, outbox
from kernel.errors import Conflict, Forbidden, Invalid
from kernel.intervals import Interval
from kernel.states import transition
from projects.tests.factories import active_project
from quotas import services
from quotas.errors import PromisesExceed
from quotas.models import Claim
from quotas.selectors import free_between, promised_at
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
T0 = datetime(2030, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def free(model: GpuModel) -> int:
    return free_between(model, Interval(clock.now()))


def test_dedicating_a_pool_promises_its_gpus_and_sharing_frees_them() -> None:
    model, node = make.capacity(8)
    make.grant(active_project(), model, 3)
    with pytest.raises(PromisesExceed) as refused:
        services.pool_dedicate(actor=make.granter(), pool_id=node.pool_id, purpose="inference")
    assert refused.value.data["promised"] == 11
    node.pool.refresh_from_db()
    assert node.pool.kind == PoolKind.SHARED
    more = machines.pool("more")
    machines.enrolled(make.granter(), "n2", 4)
    second = model.nodes.get(name="n2")
    services.node_move(actor=make.granter(), node_id=second.pk, pool_id=more.pk)
    services.pool_dedicate(actor=make.granter(), pool_id=more.pk, purpose="inference")
    assert (promised_at(clock.now())[model.pk], free(model)) == (7, 5)
    services.pool_dedicate(actor=make.granter(), pool_id=more.pk)
    assert Claim.objects.filter(pool=more).count() == 1
    services.pool_release(actor=make.granter(), pool_id=more.pk)
    assert free(model) == 9


def test_a_node_that_joins_a_dedicated_pool_is_covered_as_far_as_is_free() -> None:
    model, _node = make.capacity(8, reserve=1000)
    kept = pool_create(actor=make.granter(), spec=PoolSpec("kept", "Kept", kind=PoolKind.DEDICATED))
    secret = machines.token(make.granter(), "n2", kept)
    node_enrol(message=machines.enrol_message(secret, machines.hardware("n2", 4)))
    assert free(model) == 10
    outbox.deliver_due()
    assert (promised_at(clock.now())[model.pk], free(model)) == (4, 6)
    services.pool_cover(pool_id=kept.pk)
    assert Claim.objects.get().guaranteed == 4
    services.reserve_set(actor=make.granter(), gpu_model_id=model.pk, basis_points=0)
    make.grant(active_project(), model, 8)
    node_of_kept = model.nodes.get(name="n2")
    services.capacity_change(actor=make.granter(), node_id=node_of_kept.pk, gpus=3)
    assert (promised_at(clock.now())[model.pk], free(model)) == (11, 0)


def test_moving_a_node_takes_its_capacity_and_what_covers_it_along() -> None:
    model, node = make.capacity(8)
    other = machines.pool("other")
    kept = pool_create(actor=make.granter(), spec=PoolSpec("kept", "Kept", kind=PoolKind.DEDICATED))
    services.node_move(actor=make.granter(), node_id=node.pk, pool_id=other.pk)
    now = clock.now()
    assert CapacityFact.objects.get(during__contains=now).pool == other
    make.grant(active_project(), model, 1)
    with pytest.raises(PromisesExceed):
        services.node_move(actor=make.granter(), node_id=node.pk, pool_id=kept.pk)
    services.project_claims_end(project_id=Claim.objects.get().project_id or 0)
    services.node_move(actor=make.granter(), node_id=node.pk, pool_id=kept.pk)
    assert free(model) == 0
    services.node_move(actor=make.granter(), node_id=node.pk, pool_id=other.pk)
    assert free(model) == 8
    assert sum(fact.gpus for fact in CapacityFact.objects.filter(during__contains=clock.now())) == 8


def test_capacity_changes_from_a_moment_on_and_never_below_what_is_promised_later() -> None:
    model, node = make.capacity(8)
    admin, project = make.granter(), active_project()
    with clock.frozen(T0):
        make.grant(project, model, 6, effective_from=T0 + 5 * DAY, effective_to=T0 + 6 * DAY)
        with pytest.raises(PromisesExceed) as refused:
            services.capacity_remove(actor=admin, node_id=node.pk)
        assert refused.value.data["at"] == (T0 + 5 * DAY).isoformat()
        services.capacity_change(actor=admin, node_id=node.pk, gpus=6)
        services.capacity_remove(actor=admin, node_id=node.pk, effective_from=T0 + 6 * DAY)
        services.capacity_change(actor=admin, node_id=node.pk, gpus=7, effective_from=T0 + DAY)
        assert [free_between(model, Interval(T0 + d * DAY, T0 + (d + 1) * DAY)) for d in (0, 2, 5, 7)] == [6, 7, 1, 7]
    assert free_between(model, Interval(T0 - DAY, T0)) == 8


def test_capacity_is_what_is_registered_and_spot_never_counts() -> None:
    _model, node = make.capacity(8)
    admin = make.granter()
    for gpus in (9, -1):
        with pytest.raises(Invalid):
            services.capacity_change(actor=admin, node_id=node.pk, gpus=gpus)
    spot, _answer = machines.enrolled(admin, "burst", 4, source="spot")
    with pytest.raises(Conflict):
        services.capacity_change(actor=admin, node_id=spot.pk, gpus=1)
    with pytest.raises(Invalid):
        services.capacity_change(actor=admin, node_id=node.pk, gpus=1, effective_from=clock.now() - DAY)
    for someone in (people.person(), people.director(), people.auditor()):
        with pytest.raises(Forbidden):
            services.capacity_change(actor=someone, node_id=node.pk, gpus=1)
        with pytest.raises(Forbidden):
            services.capacity_remove(actor=someone, node_id=node.pk)
        with pytest.raises(Forbidden):
            services.pool_dedicate(actor=someone, pool_id=node.pool_id)
        with pytest.raises(Forbidden):
            services.node_move(actor=someone, node_id=node.pk, pool_id=node.pool_id)


def test_an_outage_changes_no_capacity() -> None:
    model, node = make.capacity(8)
    transition(node, "lose", actor=None)
    assert node.state == NodeState.DOWN
    assert free(model) == 8
