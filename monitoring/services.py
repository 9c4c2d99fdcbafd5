"""Taking samples in. A constant number of statements, whatever the size of the batch."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from agent.messages import SampleBatch, SampleReply
from inventory.models import Device, Node
from kernel import clock
from kernel.unit import unit_of_work
from monitoring.batch import DEVICE_COLUMNS, HOST_COLUMNS, KnownDevice, allowed_instants, check_shape, take
from monitoring.partitions import partitions_ensure

MAX_SKEW_MS = 2**31 - 1
_VALUES = ", ".join(DEVICE_COLUMNS)
_COLUMNS = f"device_id, at, is_simulated, {_VALUES}"
_UNNEST = (
    "unnest(%s::bigint[], %s::timestamptz[], %s::boolean[], %s::double precision[], %s::bigint[], %s::bigint[], "
    f"%s::integer[], %s::bigint[], %s::integer[]) AS sample({_COLUMNS})"
)
# The column names below are the constants above, never input.
_INSERT_SAMPLES = f"""
    INSERT INTO monitoring_gpusample ({_COLUMNS}, received_at, skew_ms)
    SELECT {_COLUMNS}, %s, %s FROM {_UNNEST}
    ON CONFLICT DO NOTHING
"""  # noqa: S608
_UPSERT_LATEST = f"""
    INSERT INTO monitoring_gpulatest AS held ({_COLUMNS}) SELECT {_COLUMNS} FROM {_UNNEST}
    ON CONFLICT (device_id) DO UPDATE SET at = excluded.at, is_simulated = excluded.is_simulated,
        {", ".join(f"{name} = excluded.{name}" for name in DEVICE_COLUMNS)}
    WHERE held.at < excluded.at
"""  # noqa: S608
_UPSERT_HOST = f"""
    INSERT INTO monitoring_hostlatest AS held (node_id, at, is_simulated, {", ".join(HOST_COLUMNS)})
    VALUES (%s, %s, %s, {", ".join(["%s"] * len(HOST_COLUMNS))})
    ON CONFLICT (node_id) DO UPDATE SET at = excluded.at, is_simulated = excluded.is_simulated,
        {", ".join(f"{name} = excluded.{name}" for name in HOST_COLUMNS)}
    WHERE held.at < excluded.at
"""  # noqa: S608


def retention() -> timedelta:
    """How long raw samples are kept."""
    return timedelta(hours=settings.MONITORING_RAW_HOURS)


def samples_ingest(*, node: Node, batch: SampleBatch) -> SampleReply:
    """Keep what is new of a node's samples, ignore what is there already, refuse the rest; each alone.

    Refused are devices that are not this node's, instants more than five minutes ahead of the portal's clock, and
    instants older than what is kept. Raises ``MalformedBatch`` for columns of different lengths.
    """
    check_shape(batch)
    received_at = clock.now()
    allowed = allowed_instants(batch, received_at, retention())
    taken = take(batch, _devices(node, batch), allowed)
    accepted = 0
    if taken.count:
        partitions_ensure(taken.days)
    with unit_of_work(), connection.cursor() as cursor:
        if taken.count:
            cursor.execute(_INSERT_SAMPLES, [received_at, _skew_ms(batch, received_at), *taken.rows])
            accepted = cursor.rowcount
            cursor.execute(_UPSERT_LATEST, taken.newest)
        if batch.host is not None and allowed:
            cursor.execute(_UPSERT_HOST, _host_values(node, batch, allowed))
    return SampleReply(accepted=accepted, duplicates=taken.count - accepted, refused=taken.refused)


def _devices(node: Node, batch: SampleBatch) -> dict[str, KnownDevice]:
    uuids = [series.uuid for series in batch.devices]
    rows = Device.objects.filter(node=node, uuid__in=uuids).values_list("uuid", "id", "is_simulated")
    return {uuid: KnownDevice(device_id, is_simulated) for uuid, device_id, is_simulated in rows}


def _skew_ms(batch: SampleBatch, received_at: datetime) -> int:
    """How far the node's clock is behind ours (negative: ahead), the way of the message included."""
    milliseconds = round((received_at - batch.sent_at).total_seconds() * 1000)
    return max(-MAX_SKEW_MS, min(MAX_SKEW_MS, milliseconds))


def _host_values(node: Node, batch: SampleBatch, allowed: list[int]) -> list[Any]:
    newest = max(allowed, key=lambda index: batch.at[index])
    columns = [getattr(batch.host, name)[newest] for name in HOST_COLUMNS]
    return [node.pk, batch.at[newest], node.is_simulated, *columns]
