"""What was measured, attributed to whom, and what a missing sample means."""

from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Device, Node
from kernel import clock
from monitoring.engine.series import Window
from monitoring.selectors.latest import Utilisation, gpus_latest, hosts_latest, jobs_now, projects_now
from monitoring.selectors.series import gpus_series, job_span, jobs_series, projects_series
from monitoring.services import samples_ingest
from monitoring.tests import factories
from monitoring.tests.factories import NOON

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def measured(node: Node, values: list[list[float | None]], start: datetime = NOON, step_s: int = 10) -> list[Device]:
    """Samples of the node's devices, one list of utilisations each."""
    devices = list(node.devices.all())
    columns = [factories.columns(device.uuid, row) for device, row in zip(devices, values, strict=True)]
    batch = factories.batch(columns, start=start, step_s=step_s, host=factories.host_columns(len(values[0])))
    with clock.frozen(batch.sent_at):
        samples_ingest(node=node, batch=batch)
    return devices


def test_the_newest_values_turn_to_no_data_when_they_are_old() -> None:
    node = factories.node(gpus=2)
    first, second = measured(node, [[97.0], [None]])
    with clock.frozen(NOON + timedelta(seconds=settings.MONITORING_STALE_SECONDS)):
        now = gpus_latest([first.pk, second.pk, 10**9])
        host = hosts_latest([node.pk])[node.pk]
    assert (now[first.pk].utilisation_pct, now[first.pk].is_stale) == (97.0, False)
    assert (now[second.pk].utilisation_pct, now[second.pk].is_stale) == (None, False)
    assert 10**9 not in now
    assert (host.cpu_pct, host.is_stale) == (12.5, False)
    with clock.frozen(NOON + timedelta(seconds=settings.MONITORING_STALE_SECONDS + 1)):
        later = gpus_latest()[first.pk]
        host = hosts_latest([node.pk])[node.pk]
    assert (later.utilisation_pct, later.memory_used_bytes, later.power_mw) == (None, None, None)
    assert (later.is_stale, later.at) == (True, NOON)
    assert (host.cpu_pct, host.is_stale, host.at) == (None, True, NOON)


def test_a_job_sees_only_what_its_gpus_did_while_it_held_them() -> None:
    node = factories.node(gpus=2)
    held, other = measured(node, [[10.0, 20.0, 30.0, 40.0], [99.0, 99.0, 99.0, 99.0]])
    job = factories.job(factories.project())
    factories.allocation(job, held, NOON + timedelta(seconds=10), NOON + timedelta(seconds=30))
    factories.allocation(factories.job(factories.project()), other, NOON)
    answer = jobs_series([job.pk], Window.covering(NOON, NOON + timedelta(seconds=40), 10))[job.pk]
    # [start, end): the sample at the instant of release is the next holder's.
    assert answer.utilisation_pct == [None, 20.0, 30.0, None]
    assert answer.n == [0, 1, 1, 0]
    assert answer.mean_pct == 25.0
    assert job_span(job.pk) == (NOON + timedelta(seconds=10), NOON + timedelta(seconds=30))


def test_gaps_are_null_and_are_not_counted_as_idle() -> None:
    node = factories.node(gpus=1)
    (device,) = measured(node, [[80.0, None]])
    measured(node, [[60.0]], start=NOON + 3 * MINUTE)
    job = factories.job(factories.project())
    factories.allocation(job, device, NOON - MINUTE)
    window = Window.covering(NOON - MINUTE, NOON + 5 * MINUTE, 60)
    answer = jobs_series([job.pk], window)[job.pk]
    assert answer.utilisation_pct == [None, 80.0, None, None, 60.0, None]
    assert answer.mean_pct == 70.0
    assert answer.n == [0, 1, 0, 0, 1, 0]
    assert answer.gpus == [0, 1, 0, 0, 1, 0]
    assert job_span(job.pk) == (NOON - MINUTE, None)


def test_a_job_on_several_gpus_shows_mean_and_spread_and_the_sum_of_power() -> None:
    node = factories.node(gpus=2)
    devices = measured(node, [[100.0, 100.0], [20.0, 40.0]])
    job = factories.job(factories.project())
    attempt = factories.allocation(job, devices[0], NOON).member
    attempt.allocations.create(device=devices[1], milli=1000, allocated_at=NOON)
    answer = jobs_series([job.pk], Window.covering(NOON, NOON + MINUTE, 60))[job.pk]
    assert answer.utilisation_pct == [65.0]
    assert (answer.low_pct, answer.high_pct, answer.gpus, answer.n) == ([30.0], [100.0], [2], [4])
    assert answer.power_w == [600.0]
    assert answer.memory_used_bytes == [10 << 30]


def test_a_project_counts_a_shared_gpu_once() -> None:
    node = factories.node(gpus=1)
    (device,) = measured(node, [[50.0, 70.0]])
    project = factories.project()
    jobs = [factories.job(project), factories.job(project)]
    for job in jobs:
        factories.allocation(job, device, NOON, milli=500)
    window = Window.covering(NOON, NOON + MINUTE, 60)
    assert projects_series([project.pk], window)[project.pk].n == [2]
    assert [jobs_series([job.pk], window)[job.pk].n for job in jobs] == [[2], [2]]
    with clock.frozen(NOON + MINUTE):
        assert projects_now([project.pk])[project.pk] == Utilisation(70.0, 1, 1, False)


def test_now_counts_the_held_gpus_that_do_not_report() -> None:
    silent, talking = factories.node(gpus=1), factories.node(gpus=1, is_simulated=True)
    measured(silent, [[90.0]], start=NOON - timedelta(hours=1))
    measured(talking, [[30.0]])
    job = factories.job(factories.project())
    member = factories.allocation(job, silent.devices.get(), NOON).member
    member.allocations.create(device=talking.devices.get(), milli=1000, allocated_at=NOON)
    with clock.frozen(NOON + MINUTE):
        assert jobs_now([job.pk]) == {job.pk: Utilisation(30.0, 1, 2, True)}
        assert jobs_now([]) == {}


def test_now_knows_nothing_of_released_gpus_unless_asked() -> None:
    node = factories.node(gpus=1)
    (device,) = measured(node, [[30.0]])
    job = factories.job(factories.project())
    factories.allocation(job, device, NOON - MINUTE, NOON)
    with clock.frozen(NOON + MINUTE):
        assert jobs_now([job.pk]) == {}
        assert jobs_now([job.pk], only_live=False)[job.pk].gpus == 1


def test_a_gpu_s_own_series_does_not_ask_who_held_it() -> None:
    node = factories.node(gpus=2)
    first, second = measured(node, [[10.0], [20.0]])
    answer = gpus_series([first.pk, second.pk], Window.covering(NOON, NOON + MINUTE, 60))
    assert [answer[device.pk].utilisation_pct for device in (first, second)] == [[10.0], [20.0]]


def test_series_of_many_jobs_are_one_statement() -> None:
    node = factories.node(gpus=3)
    devices = measured(node, [[1.0], [2.0], [3.0]])
    jobs = [factories.job(factories.project()) for _ in devices]
    for job, device in zip(jobs, devices, strict=True):
        factories.allocation(job, device, NOON)
    with CaptureQueriesContext(connection) as captured:
        answer = jobs_series([job.pk for job in jobs], Window.covering(NOON, NOON + MINUTE, 60))
    assert len(captured) == 1
    assert [answer[job.pk].mean_pct for job in jobs] == [1.0, 2.0, 3.0]


def test_a_job_that_never_held_a_gpu_has_gaps_and_no_span() -> None:
    job = factories.job(factories.project(), state="queued")
    answer = jobs_series([job.pk], Window.covering(NOON, NOON + MINUTE, 60))[job.pk]
    assert answer.utilisation_pct == [None]
    assert job_span(job.pk) is None
