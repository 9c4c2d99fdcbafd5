"""Prometheus reads a bounded set of gauges with a bounded number of statements."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kernel import clock
from monitoring.services import samples_ingest
from monitoring.tests import factories
from monitoring.tests.factories import NOON

pytestmark = pytest.mark.django_db


def scrape(client: Client) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    lines = [line for line in answer.content.decode().splitlines() if line.startswith("sluice_")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_the_gauges_say_what_is_there(client: Client) -> None:
    node = factories.node(gpus=2)
    factories.node(gpus=1, is_simulated=True)
    device = node.devices.all()[0]
    factories.job(factories.project(), state="queued")
    factories.allocation(factories.job(factories.project()), device, NOON)
    batch = factories.batch([factories.columns(device.uuid, [5.0])])
    with clock.frozen(NOON):
        samples_ingest(node=node, batch=batch)
    with clock.frozen(NOON + timedelta(seconds=30)):
        found = scrape(client)
    assert found["sluice_database_up"] == 1
    assert found['sluice_nodes{state="up"}'] == 2
    assert found['sluice_nodes{state="down"}'] == 0
    assert found['sluice_jobs{state="queued"}'] == 1
    assert found['sluice_jobs{state="running"}'] == 1
    assert found['sluice_gpus{gpu_model="h100",is_simulated="no"}'] == 2
    assert found['sluice_gpus{gpu_model="h100",is_simulated="yes"}'] == 1
    assert found['sluice_gpus_held{gpu_model="h100",is_simulated="no"}'] == 1
    assert found['sluice_sample_age_seconds{which="newest"}'] == 30
    assert found["sluice_gpus_without_data"] == 2


def test_without_a_sample_there_is_no_age(client: Client) -> None:
    factories.node(gpus=1)
    assert 'sluice_sample_age_seconds{which="newest"}' not in scrape(client)


def test_the_number_of_statements_is_constant(client: Client) -> None:
    with CaptureQueriesContext(connection) as few:
        scrape(client)
    for _ in range(5):
        factories.node(gpus=4)
    with CaptureQueriesContext(connection) as many:
        scrape(client)
    assert len(few) == len(many) <= 4
