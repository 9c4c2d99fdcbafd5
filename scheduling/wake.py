"""Waking the scheduler: at once, and once for many reasons that come together.

A key in the cache says that a decision is wanted. Whoever sets it sends the task; the leader takes it away before
it reads the queue, and decides again if it is back afterwards. So nothing that committed before a decision began
is missed, and a burst of submissions costs two decisions, not one each. Lost keys and tasks are healed by beat.
"""

import structlog
from celery import current_app
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

TICK_TASK = "scheduling.tick"
WANTED_KEY = "scheduling:decision-wanted"
WANTED_SECONDS = 5
"""A key whose task was lost stops holding others back after this long."""

_log = structlog.get_logger(__name__)


def wake_scheduler() -> None:
    """Ask for a decision once the caller's transaction has committed; at once outside of one."""
    transaction.on_commit(_send, robust=True)


def take_wish() -> bool:
    """Whether a decision was asked for since the last look; the wish is gone afterwards."""
    try:
        return bool(cache.delete(WANTED_KEY))
    except RedisError:
        return False


def is_wished() -> bool:
    """Whether a decision has been asked for and not begun."""
    try:
        return cache.get(WANTED_KEY) is not None
    except RedisError:
        return False


def _send() -> None:
    try:
        if cache.add(WANTED_KEY, 1, timeout=WANTED_SECONDS):
            current_app.send_task(TICK_TASK, queue="dispatch", expires=60, retry=False)
    except (RedisError, OperationalError) as error:
        _log.warning("scheduler_not_woken", error=str(error))
