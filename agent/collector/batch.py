"""Rows of samples into one columnar message."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from agent.collector.devices import NO_DATA, DeviceSample
from agent.collector.host import HostSample
from agent.messages import PROTOCOL, DeviceSeries, HostSeries, SampleBatch


class Row(Struct, frozen=True):
    """All samples of one instant."""

    at: datetime
    devices: dict[str, DeviceSample]
    host: HostSample


def make_batch(rows: Sequence[Row], boot_id: str, *, is_simulated: bool) -> SampleBatch:
    """Columns of the same length for every device seen; where a row lacks a device there is no data."""
    uuids = sorted({uuid for row in rows for uuid in row.devices})
    return SampleBatch(
        protocol=PROTOCOL,
        boot_id=boot_id,
        sent_at=datetime.now(UTC),
        is_simulated=is_simulated,
        at=tuple(row.at for row in rows),
        devices=tuple(_device(uuid, [row.devices.get(uuid, NO_DATA) for row in rows]) for uuid in uuids),
        host=_host([row.host for row in rows]),
    )


def _device(uuid: str, column: Sequence[DeviceSample]) -> DeviceSeries:
    return DeviceSeries(
        uuid=uuid,
        utilisation_pct=tuple(sample.utilisation_pct for sample in column),
        memory_used_bytes=tuple(sample.memory_used_bytes for sample in column),
        power_mw=tuple(sample.power_mw for sample in column),
        temperature_c=tuple(sample.temperature_c for sample in column),
        energy_mj=tuple(sample.energy_mj for sample in column),
        clock_mhz=tuple(sample.clock_mhz for sample in column),
    )


def _host(column: Sequence[HostSample]) -> HostSeries:
    return HostSeries(
        cpu_pct=tuple(sample.cpu_pct for sample in column),
        memory_used_bytes=tuple(sample.memory_used_bytes for sample in column),
        disk_used_bytes=tuple(sample.disk_used_bytes for sample in column),
        network_rx_bytes=tuple(sample.network_rx_bytes for sample in column),
        network_tx_bytes=tuple(sample.network_tx_bytes for sample in column),
    )
