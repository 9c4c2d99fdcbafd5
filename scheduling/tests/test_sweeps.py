"""What the clock does to many jobs: one that somebody holds does not keep the others."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from django.db import connection

from inventory.models import Pool
from kernel import clock
from kernel.unit import lock, unit_of_work
from scheduling import services
from scheduling.models import Job
from scheduling.states import AttemptState
from scheduling.tests import factories as make

WAIT = 20


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_held_does_not_keep_the_other_overdue_and_unseen_ones() -> None:
    fake = make.node()
    project = make.project()
    held = make.running_job(project, [fake], max_runtime_s=1)
    free = make.running_job(project, [fake], max_runtime_s=1)
    is_held, may_go = Event(), Event()

    def hold() -> None:
        try:
            with unit_of_work():
                lock({Job: [held.pk]})
                is_held.set()
                may_go.wait(WAIT)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(hold)
        assert is_held.wait(WAIT)
        assert services.attempts_stop_overdue(clock.now() + timedelta(hours=1)) == 1
        make.fall_silent(fake)
        assert services.members_lose_sight() == 1
        may_go.set()
        holder.result(WAIT)
    assert make.attempt_of(free).stop_reason == "timeout"
    assert make.attempt_of(free).state == AttemptState.UNKNOWN
    assert make.attempt_of(held).state == AttemptState.RUNNING
    assert services.members_lose_sight() == 1


@pytest.mark.django_db
def test_a_job_runs_no_longer_than_the_pool_allowed_when_it_was_placed() -> None:
    bounded, free = make.pool("bounded", max_runtime_bound_s=600), make.pool("free")
    fake = make.node("alpha", gpus=6, where=bounded)
    project = make.project(gpus=6, limit=6)
    unsaid = make.running_job(project, [fake])
    short = make.running_job(project, [fake], max_runtime_s=60)
    other = make.node("beta", gpus=2, where=free)
    gang = make.running_job(project, [fake, other], milli_gpus=4000, nodes_exact=2)
    allowed = [make.attempt_of(job).max_runtime_s for job in (unsaid, short, gang)]
    assert allowed == [600, 60, 600]
    launched = {pk: launch.max_runtime_s for node in (fake, other) for pk, launch in node.launches.items()}
    assert [launched[make.members_of(job)[0].pk] for job in (unsaid, short, gang)] == allowed
    Pool.objects.update(max_runtime_bound_s=9999)
    started = make.attempt_of(unsaid).started_at
    assert started is not None
    assert services.attempts_stop_overdue(started + timedelta(seconds=400)) == 1
    assert services.attempts_stop_overdue(started + timedelta(seconds=800)) == 2
    assert {make.attempt_of(job).stop_reason for job in (unsaid, short, gang)} == {"timeout"}
