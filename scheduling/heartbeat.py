"""Whether the scheduler is at work: every tick leaves its time in the cache."""

from datetime import datetime, timedelta

from django.core.cache import cache
from redis.exceptions import RedisError

from kernel import clock
from kernel.health import Health

TICK_KEY = "scheduling:last-tick"
KEPT_SECONDS = 3600
SILENT_AFTER = timedelta(seconds=30)


def beat() -> None:
    """Say that a tick has just been done. A cache that is down does not stop the scheduler."""
    try:
        cache.set(TICK_KEY, clock.now().isoformat(), timeout=KEPT_SECONDS)
    except RedisError:
        return


def health() -> Health:
    """Whether a decision was made or looked for within the last half minute."""
    try:
        last = cache.get(TICK_KEY)
    except RedisError as error:
        return Health(ok=False, detail=f"unknown, the cache does not answer: {type(error).__name__}")
    if last is None:
        return Health(ok=False, detail="has not ticked yet")
    age = clock.now() - datetime.fromisoformat(last)
    seconds = max(0, round(age.total_seconds()))
    return Health(ok=age <= SILENT_AFTER, detail=f"last tick {seconds} s ago")
