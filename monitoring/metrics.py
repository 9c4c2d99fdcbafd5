"""Gauges for Prometheus, read when they are asked for: four statements, labels from closed sets."""

from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError, connection
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from inventory.states import NodeState
from kernel import clock
from monitoring.selectors.latest import fresh_since
from scheduling.states import OVER, JobState


class PortalCollector(Collector):
    """Nodes, GPUs, jobs and the age of samples. A database that does not answer is a metric, not an error."""

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: registering must not ask the database."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        up = GaugeMetricFamily("sluice_database_up", "Whether the database answered")
        try:
            families = [_nodes(), _jobs(), *_gpus(), *_samples()]
        except DatabaseError:
            families = []
        up.add_metric([], 1.0 if families else 0.0)
        yield up
        yield from families


def _rows(query: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values or [])
        return list(cursor.fetchall())


def _nodes() -> GaugeMetricFamily:
    family = GaugeMetricFamily("sluice_nodes", "Nodes by state", labels=["state"])
    counts = dict(_rows("SELECT state, count(*) FROM inventory_node GROUP BY state"))
    for state in NodeState:
        family.add_metric([state.value], counts.get(state.value, 0))
    return family


def _jobs() -> GaugeMetricFamily:
    """Only what is not final: the finished ones would be counted anew at every scrape, for ever."""
    live = [state.value for state in JobState if state not in OVER]
    family = GaugeMetricFamily("sluice_jobs", "Jobs that are not final, by state", labels=["state"])
    query = "SELECT state, count(*) FROM scheduling_job WHERE state = ANY(%s) GROUP BY state"
    counts = dict(_rows(query, [live]))
    for state in live:
        family.add_metric([state], counts.get(state, 0))
    return family


def _gpus() -> list[GaugeMetricFamily]:
    labels = ["gpu_model", "is_simulated"]
    known = GaugeMetricFamily("sluice_gpus", "GPUs that nodes report", labels=labels)
    held = GaugeMetricFamily("sluice_gpus_held", "GPUs that some job holds", labels=labels)
    query = """
        SELECT model.name, device.is_simulated, count(*), count(*) FILTER (WHERE EXISTS (
            SELECT 1 FROM scheduling_deviceallocation WHERE device_id = device.id AND released_at IS NULL))
        FROM inventory_device AS device JOIN inventory_gpumodel AS model ON model.id = device.gpu_model_id
        WHERE device.state <> 'retired' GROUP BY 1, 2
    """
    for name, is_simulated, count, busy in _rows(query):
        values = [str(name), "yes" if is_simulated else "no"]
        known.add_metric(values, count)
        held.add_metric(values, busy)
    return [known, held]


def _samples() -> list[GaugeMetricFamily]:
    words = "Age of the GPUs' newest samples: of the newest of them, and of the oldest"
    age = GaugeMetricFamily("sluice_sample_age_seconds", words, labels=["which"])
    silent = GaugeMetricFamily("sluice_gpus_without_data", "GPUs whose newest sample is too old, or that have none")
    query = """
        SELECT max(latest.at), min(latest.at), count(*) FILTER (WHERE latest.at IS NULL OR latest.at < %s)
        FROM inventory_device AS device LEFT JOIN monitoring_gpulatest AS latest ON latest.device_id = device.id
        WHERE device.state <> 'retired'
    """
    newest, oldest, count = _rows(query, [fresh_since()])[0]
    now = clock.now()
    for which, at in (("newest", newest), ("oldest", oldest)):
        if at is not None:
            age.add_metric([which], (now - at).total_seconds())
    silent.add_metric([], count)
    return [age, silent]
