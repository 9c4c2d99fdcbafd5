"""Rows and batches that the tests of monitoring start from."""

from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import uuid4

from accounts.models import Person
from agent.messages import PROTOCOL, DeviceSeries, HostSeries, SampleBatch
from inventory.models import Device, GpuModel, Node, Pool
from projects.models import Project
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Job

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


def project(name: str = "", *, lead: Person | None = None) -> Project:
    number = next(_serial)
    return Project.objects.create(
        name=name or f"project{number}",
        state="active",
        stage="training",
        created_by=lead or person(),
        created_at=NOON,
        updated_at=NOON,
    )


def job(in_project: Project, *, state: str = "running", owner: Person | None = None) -> Job:
    return Job.objects.create(
        project=in_project,
        owner=owner or in_project.created_by,
        name=f"job{next(_serial)}",
        command=["true"],
        milli_gpus=1000,
        state=state,
        submitted_at=NOON,
        queued_at=NOON,
    )


def allocation(
    held_by: Job,
    device: Device,
    start: datetime,
    end: datetime | None = None,
    *,
    milli: int = 1000,
) -> DeviceAllocation:
    """The job's next attempt holds the device from ``start`` to ``end``; its earlier attempts have ended."""
    number = Attempt.objects.filter(job=held_by).count() + 1
    ended = {"state": "ended", "cause": "finished", "ended_at": end} if end else {"state": "running"}
    attempt = Attempt.objects.create(
        job=held_by,
        number=number,
        launcher="agent",
        gpu_model=device.gpu_model,
        assigned_at=start,
        started_at=start,
        **ended,
    )
    member = AttemptMember.objects.create(
        attempt=attempt,
        node=device.node,
        rank=0,
        launch_key=uuid4(),
        state=attempt.state,
        started_at=start,
        ended_at=end,
    )
    return DeviceAllocation.objects.create(
        member=member, device=device, milli=milli, allocated_at=start, released_at=end
    )
