"""The early wake: a Celery worker of one thread on the node's own queue, inside the agent.

The broker is a convenience. A lost, repeated or late wake is harmless, and without a broker the syncs do the
same a few seconds later.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.worker import WorkController
from kombu import Queue

from agent.backoff import Backoff
from agent.messages import WAKE_TASK

log = logging.getLogger(__name__)


def make_app(broker_url: str, queue: str, on_wake: Callable[[int], None]) -> Celery:
    """The agent's own Celery app: no results, JSON only, one queue, one task."""
    app = Celery("agent", broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=3,
        broker_transport_options={
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "health_check_interval": 20,
        },
        task_ignore_result=True,
        task_queues=[Queue(queue)],
        task_default_queue=queue,
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
    )

    @app.task(name=WAKE_TASK, ignore_result=True, acks_late=False)
    def wake(member_id: int) -> None:
        if isinstance(member_id, int) and not isinstance(member_id, bool):
            on_wake(member_id)

    return app


class WakeWorker(threading.Thread):
    """Runs the worker and starts it anew when it falls over."""

    def __init__(self, app: Celery, leaving: threading.Event) -> None:
        super().__init__(name="wake", daemon=True)
        self._app = app
        self._leaving = leaving

    def run(self) -> None:
        """Consume until the agent leaves."""
        backoff = Backoff()
        while not self._leaving.is_set():
            try:
                self._make_worker().start()
            except Exception:  # the process edge of Celery: the agent lives on without it
                log.exception("wake worker")
            self._leaving.wait(backoff.failed())

    def _make_worker(self) -> Any:
        # The bare controller installs no signal handlers, which belong to the main thread.
        return WorkController(
            app=self._app,
            pool_cls="threads",
            concurrency=1,
            hostname=f"agent@{self._app.conf.task_default_queue}",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            quiet=True,
        )
