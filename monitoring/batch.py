"""A node's batch of samples as columns for one INSERT: what is taken, what is refused and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from agent.messages import DeviceSeries, HostSeries, SampleBatch
from monitoring.errors import MalformedBatch

FUTURE_ALLOWED = timedelta(minutes=5)
MAX_VALUES = 200_000
"""Devices × instants of one batch: about twenty hours of eight GPUs, sampled every ten seconds, at most."""
DEVICE_COLUMNS = (
    "utilisation_pct",
    "memory_used_bytes",
    "power_mw",
    "temperature_c",
    "energy_mj",
    "clock_mhz",
)
HOST_COLUMNS = ("cpu_pct", "memory_used_bytes", "disk_used_bytes", "network_rx_bytes", "network_tx_bytes")


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device of the sending node. Whether it is simulated is said by its row, never by the batch."""

    id: int
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """``rows`` are columns in the order device, at, is_simulated, then ``DEVICE_COLUMNS``; ``newest`` likewise."""

    rows: list[list[Any]]
    newest: list[list[Any]]
    refused: int

    @property
    def count(self) -> int:
        return len(self.rows[0])

    @property
    def days(self) -> set[date]:
        """The UTC days that need a partition."""
        return {at.astimezone(UTC).date() for at in self.rows[1]}


def check_shape(batch: SampleBatch) -> None:
    """Raises ``MalformedBatch`` naming each column that is not as long as ``at``."""
    count = len(batch.at)
    errors: dict[str, str] = {}
    if len(batch.devices) * count > MAX_VALUES:
        errors["at"] = f"{len(batch.devices)} devices × {count} instants; at most {MAX_VALUES} together"
    sources: list[tuple[str, DeviceSeries | HostSeries, tuple[str, ...]]] = [
        (f"devices.{index}", series, DEVICE_COLUMNS) for index, series in enumerate(batch.devices)
    ]
    if batch.host is not None:
        sources.append(("host", batch.host, HOST_COLUMNS))
    for path, source, names in sources:
        for name in names:
            length = len(getattr(source, name))
            if length != count:
                errors[f"{path}.{name}"] = f"{length} values; {count} are expected, one for each instant in “at”"
    if errors:
        raise MalformedBatch(errors)


def allowed_instants(batch: SampleBatch, received_at: datetime, keep: timedelta) -> list[int]:
    """Indices of the instants that are neither from the future nor older than what is kept."""
    first, last = received_at - keep, received_at + FUTURE_ALLOWED
    return [index for index, at in enumerate(batch.at) if first <= at <= last]


def take(batch: SampleBatch, devices: Mapping[str, KnownDevice], allowed: Sequence[int]) -> Taken:
    """Columns of the samples of known devices at allowed instants. A device named twice counts once."""
    width = 3 + len(DEVICE_COLUMNS)
    rows: list[list[Any]] = [[] for _ in range(width)]
    newest: list[list[Any]] = [[] for _ in range(width)]
    latest = max(allowed, key=lambda index: batch.at[index], default=None)
    known = {series.uuid: series for series in batch.devices if series.uuid in devices}
    # By id, so that two posts of one node take their row locks in the same order.
    for uuid in sorted(known, key=lambda uuid: devices[uuid].id):
        _append(rows, devices[uuid], batch, known[uuid], allowed)
        if latest is not None:
            _append(newest, devices[uuid], batch, known[uuid], [latest])
    return Taken(rows, newest, refused=len(batch.devices) * len(batch.at) - len(rows[0]))


def _append(
    columns: list[list[Any]],
    device: KnownDevice,
    batch: SampleBatch,
    series: DeviceSeries,
    indices: Sequence[int],
) -> None:
    columns[0] += [device.id] * len(indices)
    columns[1] += [batch.at[index] for index in indices]
    columns[2] += [device.is_simulated] * len(indices)
    for place, name in enumerate(DEVICE_COLUMNS, start=3):
        values = getattr(series, name)
        columns[place] += [values[index] for index in indices]
