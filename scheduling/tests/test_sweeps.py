"""What the clock does to many jobs: one that somebody holds does not keep the others."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from django.db import connection

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
