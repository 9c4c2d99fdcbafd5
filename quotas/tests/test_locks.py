"""Two connections at once: of two acts that cannot both stand, one wins, whole, and the other says why."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.test.utils import CaptureQueriesContext

from inventory.models import GpuModel
from inventory.services import pool_edit
from kernel import clock
from kernel.errors import LockTimeout, PortalError
from kernel.intervals import Interval
from kernel.unit import lock, unit_of_work
from projects.tests.factories import active_project
from quotas import services
from quotas.models import Claim
from quotas.selectors import free_between, promised_at
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)
WAIT_S = 30


def at_once(*acts: Callable[[], object]) -> list[str]:
    """Run each act in a thread with a connection of its own, started together; how each ended, in their order."""
    barrier = threading.Barrier(len(acts))
    ends = ["unfinished"] * len(acts)

    def run(index: int, act: Callable[[], object]) -> None:
        try:
            barrier.wait(WAIT_S)
            act()
            ends[index] = "done"
        except (PortalError, IntegrityError) as refused:
            ends[index] = type(refused).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    return ends


def test_two_grants_for_the_last_gpus_and_one_wins() -> None:
    model, _node = make.capacity(8)
    first, second = active_project(), active_project()
    make.grant(active_project(), model, 3)
    ends = at_once(lambda: make.grant(first, model, 5), lambda: make.grant(second, model, 5))
    assert sorted(ends) == ["ExceedsFree", "done"]
    assert promised_at(clock.now()) == {model.pk: 8}


def test_a_grant_against_a_removal_of_capacity() -> None:
    model, node = make.capacity(8)
    project, admin = active_project(), make.granter()
    ends = at_once(
        lambda: make.grant(project, model, 6),
        lambda: services.capacity_remove(actor=admin, node_id=node.pk),
    )
    assert ends in (["done", "PromisesExceed"], ["ExceedsFree", "done"])
    assert free_between(model, Interval(clock.now())) >= 0


def test_a_grant_against_a_higher_reserve() -> None:
    model, _node = make.capacity(8)
    project, admin = active_project(), make.granter()
    ends = at_once(
        lambda: make.grant(project, model, 6),
        lambda: services.reserve_set(actor=admin, gpu_model_id=model.pk, basis_points=5000),
    )
    assert ends in (["done", "PromisesExceed"], ["ExceedsFree", "done"])
    assert free_between(model, Interval(clock.now())) >= 0


def test_two_grants_to_one_project_leave_one_in_force() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    ends = at_once(lambda: make.grant(project, model, 3), lambda: make.grant(project, model, 5))
    assert ends == ["done", "done"]
    live = Claim.objects.filter(voided_at__isnull=True, during__contains=clock.now())
    assert [claim.guaranteed for claim in live] in ([3], [5])


def test_cores_are_ordered_too() -> None:
    make.capacity(8)
    admin, first, second = make.granter(), active_project(), active_project()

    def cores(project: int) -> Callable[[], object]:
        return lambda: services.quota_grant(actor=admin, grant=services.GrantSpec(project, 60, resource="cpu"))

    assert sorted(at_once(cores(first.pk), cores(second.pk))) == ["ExceedsFree", "done"]


def test_past_every_service_the_second_of_two_commits_is_refused() -> None:
    """Both have written before either commits: the guard's own lock decides, and it is no deadlock."""
    model, _node = make.capacity(8)
    projects = [active_project(), active_project()]
    written = threading.Barrier(2)
    start = datetime.now(UTC) + timedelta(days=1)

    def insert(index: int) -> None:
        with transaction.atomic():
            make.raw_claim(projects[index], model, 5, DateTimeTZRange(start, None))
            written.wait(WAIT_S)

    ends = at_once(lambda: insert(0), lambda: insert(1))
    assert sorted(ends) == ["IntegrityError", "done"]
    assert Claim.objects.count() == 1


def test_a_lock_that_cannot_be_had_is_said_in_three_seconds() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    held, finish = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with unit_of_work():
                lock({GpuModel: [model.pk]})
                held.set()
                finish.wait(WAIT_S)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(WAIT_S)
    try:
        with pytest.raises(LockTimeout):
            make.grant(project, model, 1)
    finally:
        finish.set()
        holder.join(WAIT_S)
    assert not Claim.objects.exists()


def locked_by(act: Callable[[], object]) -> list[str]:
    """The tables whose rows an act locks, in the order in which it locks them."""
    with CaptureQueriesContext(connection) as statements:
        act()
    locking = [line["sql"] for line in statements if "FOR NO KEY UPDATE" in line["sql"] or "FOR UPDATE" in line["sql"]]
    assert not [sql for sql in locking if "FOR UPDATE" in sql]
    return [sql.partition(' FROM "')[2].partition('"')[0] for sql in locking]


def test_pools_and_areas_have_their_place_in_the_one_order_of_locks() -> None:
    model, node = make.capacity(8)
    area, admin = make.area(), make.granter()
    grant = services.AreaGrantSpec(area.pk, 1, gpu_model_id=model.pk)
    assert locked_by(lambda: services.area_grant(actor=admin, grant=grant)) == [
        "projects_researcharea",
        "inventory_gpumodel",
    ]
    services.claim_end(actor=admin, claim_id=Claim.objects.get().pk)
    dedicate = locked_by(lambda: services.pool_dedicate(actor=admin, pool_id=node.pool_id))
    assert dedicate == ["inventory_pool", "inventory_gpumodel"]
    assert locked_by(lambda: pool_edit(actor=admin, pool_id=node.pool_id, changes={"grace_s": 9})) == ["inventory_pool"]
