"""The newest values. One that is too old is no data: it says when it was last right, and no value."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from kernel import clock
from monitoring.models import GpuLatest, HostLatest


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU now. ``at`` is the instant of its last sample; values are None when that is stale or unknown."""

    device_id: int
    at: datetime | None
    is_stale: bool
    is_simulated: bool
    utilisation_pct: float | None = None
    memory_used_bytes: int | None = None
    power_mw: int | None = None
    temperature_c: int | None = None
    clock_mhz: int | None = None


@dataclass(frozen=True, slots=True)
class HostReading:
    """A node's host now; None when stale or unknown."""

    node_id: int
    at: datetime
    is_stale: bool
    cpu_pct: float | None = None
    memory_used_bytes: int | None = None
    disk_used_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Mean utilisation now over ``n`` GPUs that report, of ``gpus`` that are held."""

    mean_pct: float | None
    n: int
    gpus: int
    is_simulated: bool


NOTHING_HELD = Utilisation(None, 0, 0, False)


def fresh_since() -> datetime:
    """A sample older than this is no data."""
    return clock.now() - timedelta(seconds=settings.MONITORING_STALE_SECONDS)


def gpus_latest(device_ids: Collection[int] | None = None) -> dict[int, GpuReading]:
    """The newest reading of these GPUs (all by default), by device id. A GPU that never reported is absent."""
    rows: Iterable[GpuLatest] = GpuLatest.objects.all()
    if device_ids is not None:
        rows = GpuLatest.objects.filter(device_id__in=device_ids)
    since = fresh_since()
    return {row.device_id: _reading(row, since) for row in rows}


def _reading(row: GpuLatest, since: datetime) -> GpuReading:
    if row.at < since:
        return GpuReading(row.device_id, row.at, True, row.is_simulated)
    return GpuReading(
        row.device_id,
        row.at,
        False,
        row.is_simulated,
        row.utilisation_pct,
        row.memory_used_bytes,
        row.power_mw,
        row.temperature_c,
        row.clock_mhz,
    )


def hosts_latest(node_ids: Collection[int]) -> dict[int, HostReading]:
    """The newest host values of these nodes, by node id. A node that never reported is absent."""
    since = fresh_since()
    return {
        row.node_id: HostReading(row.node_id, row.at, True)
        if row.at < since
        else HostReading(row.node_id, row.at, False, row.cpu_pct, row.memory_used_bytes, row.disk_used_bytes)
        for row in HostLatest.objects.filter(node_id__in=node_ids)
    }


def jobs_now(job_ids: Collection[int], *, only_live: bool = True) -> dict[int, Utilisation]:
    """Utilisation now of the GPUs that these jobs hold, by job id. A job that holds none is absent.

    Without ``only_live``: of the GPUs that they ever held.
    """
    return _held_now("attempt.job_id", job_ids, only_live)


def projects_now(project_ids: Collection[int], *, only_live: bool = True) -> dict[int, Utilisation]:
    """Utilisation now of the GPUs that these projects hold, each GPU once. A project that holds none is absent."""
    return _held_now("job.project_id", project_ids, only_live)


def _held_now(key: str, ids: Collection[int], only_live: bool) -> dict[int, Utilisation]:
    if not ids:
        return {}
    live = "AND allocation.released_at IS NULL" if only_live else ""
    query = f"""
        SELECT key, avg(value), count(value), count(*), bool_or(is_simulated) FROM (
            SELECT DISTINCT {key} AS key, device.id, device.is_simulated,
                CASE WHEN latest.at >= %s THEN latest.utilisation_pct END AS value
            FROM scheduling_deviceallocation AS allocation
            JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
            JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
            JOIN scheduling_job AS job ON job.id = attempt.job_id
            JOIN inventory_device AS device ON device.id = allocation.device_id
            LEFT JOIN monitoring_gpulatest AS latest ON latest.device_id = device.id
            WHERE {key} = ANY(%s) {live}
        ) AS held GROUP BY key
    """  # noqa: S608 - the key is one of the two columns above
    with connection.cursor() as cursor:
        cursor.execute(query, [fresh_since(), list(ids)])
        return {row[0]: Utilisation(row[1], row[2], row[3], row[4]) for row in cursor.fetchall()}
