"""Rows and batches that the tests of monitoring start from."""

from datetime import UTC, datetime, timedelta
from itertools import count

from accounts.models import Person
from agent.messages import PROTOCOL, DeviceSeries, HostSeries, SampleBatch
from inventory.models import Device, GpuModel, Node, Pool

NOON = datetime(2026, 6, 9, 12, 0, tzinfo=UTC)
_serial = count(1)


def person(name: str = "") -> Person:
    return Person.objects.create(username=name or f"person{next(_serial)}", display_name=name)


def gpu_model(name: str = "h100") -> GpuModel:
    return GpuModel.objects.get_or_create(name=name, defaults={"title": name.upper(), "memory_bytes": 80 << 30})[0]


def node(*, gpus: int = 2, model: str = "h100", is_simulated: bool = False, token_digest: str = "") -> Node:
    """A node with its devices; the owner of the acceptance is a person of its own."""
    number = next(_serial)
    kind = gpu_model(model)
    pool = Pool.objects.get_or_create(name="training", defaults={"title": "Training"})[0]
    row = Node.objects.create(
        name=f"node{number}",
        pool=pool,
        source="owned",
        is_simulated=is_simulated,
        gpu_model=kind,
        cpus=64,
        memory_bytes=1 << 40,
        disk_bytes=1 << 42,
        token_digest=token_digest or f"{number:064x}",
        registered_at=NOON,
        last_seen_at=NOON,
        accepted_by=person(),
    )
    Device.objects.bulk_create(
        Device(
            node=row,
            uuid=f"GPU-{number}-{index}",
            index=index,
            gpu_model=kind,
            memory_bytes=80 << 30,
            is_simulated=is_simulated,
            first_seen_at=NOON,
            last_seen_at=NOON,
        )
        for index in range(gpus)
    )
    return row


def columns(uuid: str, values: list[float | None]) -> DeviceSeries:
    """A device's columns with the given utilisation and plausible other values."""
    size = len(values)
    return DeviceSeries(
        uuid=uuid,
        utilisation_pct=tuple(values),
        memory_used_bytes=(10 << 30,) * size,
        power_mw=(300_000,) * size,
        temperature_c=(60,) * size,
        energy_mj=tuple(range(size)),
        clock_mhz=(1700,) * size,
    )


def host_columns(size: int, cpu_pct: float | None = 12.5) -> HostSeries:
    none = (None,) * size
    return HostSeries(
        cpu_pct=(cpu_pct,) * size,
        memory_used_bytes=(1 << 30,) * size,
        disk_used_bytes=(1 << 31,) * size,
        network_rx_bytes=none,
        network_tx_bytes=none,
    )


def batch(
    devices: list[DeviceSeries],
    *,
    start: datetime = NOON,
    step_s: int = 10,
    sent_at: datetime | None = None,
    host: HostSeries | None = None,
    is_simulated: bool = False,
) -> SampleBatch:
    size = len(devices[0].utilisation_pct) if devices else len(host.cpu_pct) if host else 0
    at = tuple(start + timedelta(seconds=step_s * index) for index in range(size))
    return SampleBatch(
        protocol=PROTOCOL,
        boot_id="boot",
        sent_at=sent_at or (at[-1] if at else start),
        is_simulated=is_simulated,
        at=at,
        devices=tuple(devices),
        host=host,
    )
