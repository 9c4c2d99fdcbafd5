"""``/livez``, ``/readyz``, ``/metrics``, and the heartbeat that a worker leaves."""

from collections.abc import Iterator

import pytest
from django.conf import settings as configured
from django.core.cache import cache
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from kernel import health
from kernel.health import Health
from portal import celery, probes

NAMES = {"database", "broker", "workers", "scheduler", "agents"}


@pytest.fixture(autouse=True)
def no_heartbeats() -> Iterator[None]:
    keys = [celery.alive_key(queue) for queue in probes.WORKER_QUEUES]
    cache.delete_many(keys)
    yield
    cache.delete_many(keys)


@pytest.mark.parametrize("path", ["/livez", "/livez/"])
def test_livez_touches_nothing(client: Client, path: str) -> None:
    """Without database access allowed, and without a session."""
    answer = client.get(path)
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
def test_readyz_names_every_check_and_fails_if_one_does(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    body = answer.json()
    assert set(body) >= NAMES
    assert body["ready"] is False
    assert body["database"]["ok"] is True
    assert body["broker"]["ok"] is True
    assert body["workers"] == {"ok": False, "detail": "no worker reads solver, dispatch"}


@pytest.mark.django_db
def test_readyz_is_cheap(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_max_num_queries(6):
        client.get("/readyz")


def test_a_worker_counts_for_the_queues_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery, "_queues_of_this_worker", ["solver"])
    celery.report_alive()
    assert probes.workers() == Health(ok=False, detail="no worker reads dispatch")
    monkeypatch.setattr(celery, "_queues_of_this_worker", ["solver", "dispatch"])
    celery.report_alive()
    assert probes.workers().ok


def test_every_queue_of_ours_is_watched() -> None:
    assert set(probes.WORKER_QUEUES) == {queue.name for queue in configured.CELERY_TASK_QUEUES}


def test_a_broker_that_is_down_is_an_answer(settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:9/0"
    assert probes.broker() == Health(ok=False, detail="no answer: ConnectionError")


@pytest.mark.django_db(transaction=True)
def test_metrics_are_prometheus_text(client: Client) -> None:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert b"sluice_build_info{" in answer.content


def test_two_checks_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="database"):
        health.register("database", lambda: Health(ok=True, detail=""))


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
def test_nothing_is_changed_by_asking(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


@pytest.mark.django_db
def test_pages_carry_a_strict_policy(client: Client) -> None:
    policy = client.get("/livez")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
