"""Waking scheduler and nodes; what the broker carries; whether the scheduler is at work."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import Celery
from django.conf import settings as configured
from django.core.cache import cache
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis import Redis

from agent.messages import WAKE_TASK, node_queue
from kernel import clock
from quotas.usage import used_at
from scheduling import heartbeat, services, tasks, wake
from scheduling.launchers.agent import AgentLauncher
from scheduling.launchers.base import Wake
from scheduling.launchers.push import LAUNCHERS, push
from scheduling.models import Decision
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def broker() -> Iterator[Redis]:
    """Real Redis, with nothing in it that this room sends."""
    cache.delete_many([wake.WANTED_KEY, heartbeat.TICK_KEY])
    with Redis.from_url(configured.CELERY_BROKER_URL) as client:
        client.delete("dispatch")
        yield client
        client.delete("dispatch")


def sent(client: Redis, queue: str) -> list[dict[str, Any]]:
    return [json.loads(raw) for raw in client.lrange(queue, 0, -1)]


def names(client: Redis) -> list[str]:
    return [message["headers"]["task"] for message in sent(client, "dispatch")]


def test_a_burst_of_submissions_asks_for_one_decision(
    broker: Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make.node()
    project = make.project()
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(5):
            make.job(project)
    assert names(broker).count(wake.TICK_TASK) == 1
    assert wake.is_wished()
    services.decide_and_apply(clock.now())
    assert not wake.is_wished()


def test_the_broker_carries_a_members_id_and_nothing_else(
    broker: Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    fake = make.node()
    job = make.job(make.project(), command=("python", "secret-canary.py"), env={"KEY": "secret-canary"})
    queue = node_queue(fake.node.pk)
    broker.delete(queue)
    with django_capture_on_commit_callbacks(execute=True):
        make.decide()
    [member] = make.members_of(job)
    [message] = sent(broker, queue)
    assert message["headers"]["task"] == WAKE_TASK
    assert message["headers"]["argsrepr"] == f"[{member.pk}]"
    assert message["headers"]["expires"] is not None
    assert "secret-canary" not in str(sent(broker, queue))
    broker.delete(queue)


def test_a_broker_that_is_away_delays_and_is_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The push fails fast and is logged; the job waits for its node's next sync."""
    app = Celery(broker="redis://127.0.0.1:1/0")
    app.conf.broker_transport_options = configured.CELERY_BROKER_TRANSPORT_OPTIONS
    monkeypatch.setitem(LAUNCHERS, "agent", AgentLauncher(app))
    began = time.monotonic()
    push([("agent", Wake(1, 1)), ("no-such-launcher", Wake(2, 2))])
    assert time.monotonic() - began < 5


def test_the_tick_decides_and_leaves_its_time() -> None:
    assert heartbeat.health().ok is False
    make.node()
    job = make.job(make.project())
    tasks.tick()
    job.refresh_from_db()
    assert job.state == "starting"
    assert heartbeat.health().ok is True
    with clock.frozen(clock.now() + timedelta(seconds=31)):
        late = heartbeat.health()
    assert (late.ok, late.detail) == (False, "last tick 31 s ago")


def test_a_decision_is_kept_when_it_says_something_new() -> None:
    make.node()
    project = make.project(gpus=1, limit=1)
    first, second = make.job(project), make.job(project)
    tasks.tick()
    decision = Decision.objects.get()
    assert [start["job"] for start in decision.started] == [first.pk]
    assert [(wait["job"], wait["reason"]) for wait in decision.waiting] == [(second.pk, "limit")]
    tasks.tick()
    decisions = Decision.objects.count()
    tasks.tick()
    assert Decision.objects.count() == decisions
    services.job_pause(actor=project.created_by, job_id=second.pk)
    tasks.tick()


def test_quotas_learn_what_is_in_use() -> None:
    fake = make.node()
    project = make.project()
    make.running_job(project, [fake], milli_gpus=2000, cpus=3, memory_bytes=5)
    make.job(project)
    model = fake.node.gpu_model_id
    assert used_at(clock.now(), [project.pk]) == {
        (project.pk, "gpu", model): 2.0,
        (project.pk, "cpu", None): 3,
        (project.pk, "memory", None): 5,
    }
    assert used_at(clock.now() - timedelta(hours=1), [project.pk]) == {}
    assert used_at(clock.now() + timedelta(hours=1), [project.pk]) is None


def test_silent_nodes_and_overdue_attempts_have_their_tasks() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake], max_runtime_s=60)
    with clock.frozen(clock.now() + timedelta(seconds=200)):
        tasks.stop_overdue()
    assert make.attempt_of(job).stop_reason == "timeout"
    make.fall_silent(fake)
    tasks.mark_silent()
    assert make.attempt_of(job).state == "unknown"


def test_decisions_are_kept_for_a_month() -> None:
    make.node()
    make.job(make.project(gpus=0))
    tasks.tick()
    made_at = Decision.objects.get().decided_at
    for late, left in ((timedelta(days=30), 1), (timedelta(days=30, seconds=1), 0)):
        with clock.frozen(made_at + late):
            tasks.forget_decisions()
        assert Decision.objects.count() == left
