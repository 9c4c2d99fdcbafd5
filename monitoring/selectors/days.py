"""Utilisation over days, from a minute of every hour: raw samples of weeks are too many to read for a page."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

LATELY = timedelta(hours=2)
"""So far back every fifth minute is read, so that what has just begun is seen as well."""
_QUERY = """
    WITH held AS (
        SELECT job.project_id AS project, device.gpu_model_id AS model, device.id AS device,
            range_agg(tstzrange(allocation.allocated_at, allocation.released_at)) AS during
        FROM scheduling_deviceallocation AS allocation
        JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
        JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
        JOIN scheduling_job AS job ON job.id = attempt.job_id
        JOIN inventory_device AS device ON device.id = allocation.device_id
        WHERE job.project_id = ANY(%(ids)s) AND allocation.allocated_at < %(end)s
            AND (allocation.released_at IS NULL OR allocation.released_at > %(start)s)
        GROUP BY 1, 2, 3
    ), probe AS (
        SELECT generate_series(%(start)s, %(end)s - interval '1 hour', interval '1 hour') AS at
        UNION SELECT generate_series(%(lately)s, %(end)s - interval '1 minute', interval '5 minutes')
    )
    SELECT project, model, floor(extract(epoch FROM probe.at - %(start)s) / %(step)s)::integer AS step,
        sum(sample.mean), count(sample.mean), count(*)
    FROM held JOIN probe ON held.during @> probe.at
    LEFT JOIN LATERAL (
        SELECT avg(utilisation_pct) AS mean FROM monitoring_gpusample
        WHERE device_id = held.device AND at >= probe.at AND at < probe.at + interval '1 minute'
    ) AS sample ON true
    GROUP BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Days:
    """Means by step; None where nothing was held or nothing reported. ``mean_pct`` weighs every reading alike."""

    values: list[float | None]
    mean_pct: float | None
    readings: int


def models_days(
    project_ids: Collection[int], start: datetime, end: datetime, *, steps: int = 42
) -> dict[tuple[int, int], Days]:
    """Utilisation of the GPUs held, by project and GPU model; a pair that held none is absent. One statement."""
    step_s = (end - start).total_seconds() / steps
    asked: dict[str, Any] = {"ids": list(project_ids), "start": start, "end": end, "step": step_s}
    with connection.cursor() as cursor:
        cursor.execute(_QUERY, {**asked, "lately": end - LATELY})
        rows = cursor.fetchall()
    sums: dict[tuple[int, int], dict[int, tuple[float, int]]] = {}
    for project, model, step, total, count, _held in rows:
        sums.setdefault((project, model), {})[min(step, steps - 1)] = (float(total or 0), int(count))
    return {key: _days(found, steps) for key, found in sums.items()}


def _days(found: dict[int, tuple[float, int]], steps: int) -> Days:
    known = {step: total / count for step, (total, count) in found.items() if count}
    count = sum(count for _total, count in found.values())
    mean = sum(total for total, _count in found.values()) / count if count else None
    return Days([known.get(step) for step in range(steps)], mean, count)
