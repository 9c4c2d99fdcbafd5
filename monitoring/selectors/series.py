"""Series from the raw samples: attributed to jobs and projects by the intervals in which they held the device."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import connection

from monitoring.engine.series import Cell, Series, Window, held_counts, series

_ALLOCATIONS = """
    FROM scheduling_deviceallocation AS allocation
    JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
    JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
    JOIN scheduling_job AS job ON job.id = attempt.job_id
    WHERE {key} = ANY(%(ids)s) AND allocation.allocated_at < %(end)s
        AND (allocation.released_at IS NULL OR allocation.released_at > %(start)s)
"""
# The union of the intervals: two jobs of a project that share a GPU count its samples once.
_HELD = "SELECT {key} AS key, allocation.device_id, range_agg(tstzrange(allocated_at, released_at)) AS during"
_SERIES = """
    WITH held AS ({held}), by_device AS (
        SELECT held.key, held.device_id,
            floor(extract(epoch FROM sample.at - %(start)s) / %(step)s)::integer AS step,
            sum(sample.utilisation_pct) AS utilisation, count(sample.utilisation_pct) AS n,
            max(sample.memory_used_bytes) AS memory, avg(sample.power_mw) AS power
        FROM held JOIN monitoring_gpusample AS sample ON sample.device_id = held.device_id
            AND sample.at >= %(start)s AND sample.at < %(end)s AND held.during @> sample.at
        GROUP BY 1, 2, 3
    )
    SELECT key, step, sum(n), sum(utilisation), min(utilisation / nullif(n, 0)), max(utilisation / nullif(n, 0)),
        max(memory), sum(power), count(*)
    FROM by_device GROUP BY key, step
"""


def jobs_series(job_ids: Collection[int], window: Window) -> dict[int, Series]:
    """What the GPUs of each job did while it held them. A GPU shared with another job counts for both."""
    return _series(_held("attempt.job_id"), job_ids, window)


def projects_series(project_ids: Collection[int], window: Window) -> dict[int, Series]:
    """What the GPUs of each project did while it held them, each sample once."""
    return _series(_held("job.project_id"), project_ids, window)


def gpus_series(device_ids: Collection[int], window: Window) -> dict[int, Series]:
    """What each GPU did, whoever held it."""
    held = "SELECT id AS key, id AS device_id, '{(,)}'::tstzmultirange AS during"
    return _series(f"{held} FROM inventory_device WHERE id = ANY(%(ids)s)", device_ids, window)


def job_held(job_id: int, window: Window) -> list[int]:
    """How many GPUs the job held in each step: where it held none, a missing sample is no gap."""
    return _held_counts("attempt.job_id", job_id, window)


def project_held(project_id: int, window: Window) -> list[int]:
    """How many GPUs the project held in each step."""
    return _held_counts("job.project_id", project_id, window)


def job_span(job_id: int) -> tuple[datetime, datetime | None] | None:
    """From when the job first held a GPU until it let go of the last (None: it still holds one)."""
    query = """
        SELECT min(allocated_at), CASE WHEN bool_and(released_at IS NOT NULL) THEN max(released_at) END
        FROM scheduling_deviceallocation AS allocation
        JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
        JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
        WHERE attempt.job_id = %s
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [job_id])
        first, last = cursor.fetchone()
    return None if first is None else (first, last)


def _held_counts(key: str, pk: int, window: Window) -> list[int]:
    query = "SELECT allocation.device_id, allocated_at, released_at" + _ALLOCATIONS.format(key=key)
    with connection.cursor() as cursor:
        cursor.execute(query, {"ids": [pk], "start": window.start, "end": window.end})
        return held_counts(window, cursor.fetchall())


def _held(key: str) -> str:
    return (_HELD + _ALLOCATIONS + " GROUP BY {key}, allocation.device_id").format(key=key)


def _series(held: str, ids: Collection[int], window: Window) -> dict[int, Series]:
    """One statement for all of them; every id gets a series, of gaps if there is nothing."""
    cells: dict[int, dict[int, Cell]] = {key: {} for key in ids}
    values: dict[str, Any] = {"ids": list(ids), "start": window.start, "end": window.end, "step": window.step_s}
    with connection.cursor() as cursor:
        cursor.execute(_SERIES.format(held=held), values)
        for key, step, n, total, low, high, memory, power, gpus in cursor.fetchall():
            cells[key][step] = Cell(int(n), total, low, high, memory, None if power is None else float(power), gpus)
    return {key: series(window, by_step) for key, by_step in cells.items()}
