"""Health checks of the services that every room stands on."""

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from redis import Redis
from redis.exceptions import RedisError

from kernel.health import Health
from portal.celery import alive_key

ANSWER_SECONDS = 2.0
WORKER_QUEUES = ("solver", "dispatch")


def database() -> Health:
    """Whether a query is answered."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return Health(ok=False, detail=f"no answer: {type(error).__name__}")
    return Health(ok=True, detail="answers")


def broker() -> Health:
    """Whether the broker answers a ping."""
    try:
        with Redis.from_url(
            settings.CELERY_BROKER_URL, socket_connect_timeout=ANSWER_SECONDS, socket_timeout=ANSWER_SECONDS
        ) as client:
            client.ping()
    except RedisError as error:
        return Health(ok=False, detail=f"no answer: {type(error).__name__}")
    return Health(ok=True, detail="answers")


def workers() -> Health:
    """Whether each queue was read by a live worker within the last seconds."""
    keys = {alive_key(queue): queue for queue in WORKER_QUEUES}
    try:
        alive = cache.get_many(keys)
    except RedisError as error:
        return Health(ok=False, detail=f"unknown, the cache does not answer: {type(error).__name__}")
    silent = [queue for key, queue in keys.items() if key not in alive]
    if silent:
        return Health(ok=False, detail="no worker reads " + ", ".join(silent))
    return Health(ok=True, detail="read " + ", ".join(WORKER_QUEUES))
