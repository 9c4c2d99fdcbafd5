"""The Celery application: queues ``solver`` (prefork) and ``dispatch`` (threads); each node has its own.

With its heartbeat a worker writes a key with an expiry for every queue that it reads. ``/readyz`` reads those
keys: one look into the cache instead of a broadcast to all workers.
"""

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, worker_ready
from django.core.cache import cache
from redis.exceptions import RedisError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")

WORKER_ALIVE_SECONDS = 20

app = Celery("sluice")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_queues_of_this_worker: list[str] = []


def alive_key(queue: str) -> str:
    """The cache key that exists while some worker reads the queue."""
    return f"worker-alive:{queue}"


@worker_ready.connect(weak=False)
def remember_queues(sender: Any, **_: object) -> None:
    """Learn which queues this worker reads, and report at once rather than with the next heartbeat."""
    _queues_of_this_worker[:] = [queue.name for queue in sender.task_consumer.queues]
    report_alive()


@heartbeat_sent.connect(weak=False)
def report_alive(**_: object) -> None:
    """Renew this worker's keys. A cache that is down must not take the worker with it: the keys expire."""
    try:
        cache.set_many({alive_key(q): 1 for q in _queues_of_this_worker}, timeout=WORKER_ALIVE_SECONDS)
    except RedisError:
        app.log.get_default_logger().warning("heartbeat not stored: the cache does not answer")
