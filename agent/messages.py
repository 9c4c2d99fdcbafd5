"""What agent and portal say to each other, version 1.

Every message is JSON over HTTPS under ``/agent/v1/`` with ``Authorization: Bearer NODE_TOKEN`` (enrolment
excepted). Decoding is strict: a wrong type is refused with its JSON path; unknown fields are ignored, so that
either side may be the newer one. Instants are UTC and zone-aware, durations are seconds, sizes are bytes,
shares of a device are milli-GPU (1000 = the whole device).

The exchange is level-triggered. ``Sync`` says all that the node holds, ``SyncReply`` all that it should hold;
saying either twice changes nothing. The broker only wakes the agent early and names an attempt member.

=======  =============================  ==========================================
POST     ``/agent/v1/enrol``            ``Enrol`` → ``Enrolled`` (one-time token)
POST     ``/agent/v1/sync``             ``Sync`` → ``SyncReply``
GET      ``/agent/v1/launches/{id}``    → ``Launch``; 404 unknown, 409 no longer wanted
POST     ``/agent/v1/logs/{id}``        raw bytes, ``?offset=`` → ``LogReply``
POST     ``/agent/v1/samples``          ``SampleBatch`` → ``SampleReply``
=======  =============================  ==========================================
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

PROTOCOL = 1
MAX_DEVICES = 256
"""Of one node: sixteen accelerators in seven parts each, twice and more."""
ENROL_PATH = "/agent/v1/enrol"
SYNC_PATH = "/agent/v1/sync"
LAUNCH_PATH = "/agent/v1/launches/{member_id}"
LOG_PATH = "/agent/v1/logs/{member_id}"
SAMPLES_PATH = "/agent/v1/samples"

WAKE_TASK = "agent.wake"
"""Celery task on the node's own queue. Its only argument is an attempt member's id."""

MemberState = Literal["starting", "running", "stopping", "ended"]
DeviceState = Literal["ok", "lost"]
ExitCause = Literal["finished", "stopped", "timeout", "launch_failed", "node_shutdown", "lost"]
StopReason = Literal["user", "timeout", "preempted", "project", "superseded"]

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Instant = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Few = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Code = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Percent = Annotated[float, Meta(ge=0, le=100)]


def node_queue(node_id: int) -> str:
    """The Celery queue that only the agent of this node reads."""
    return f"node-{node_id}"


class DeviceReport(Struct, frozen=True):
    """One accelerator as the node sees it. Identity is the UUID; the index is for people only."""

    uuid: Name
    index: Few
    gpu_model: Name
    memory_bytes: Count
    is_simulated: bool
    state: DeviceState = "ok"


class Hardware(Struct, frozen=True):
    """What the node has. ``network_bps`` and ``interconnect`` are empty where the node cannot tell."""

    hostname: Name
    cpus: Few
    memory_bytes: Count
    disk_bytes: Count
    devices: Annotated[tuple[DeviceReport, ...], Meta(max_length=MAX_DEVICES)]
    is_simulated: bool
    interconnect: str = ""
    network_bps: Count | None = None
    driver_version: str = ""


class Enrol(Struct, frozen=True):
    """Trade a one-time token for the node's own. The token already names the node, its pool and source."""

    protocol: int
    enrolment_token: Name
    agent_version: str
    hardware: Hardware


class Enrolled(Struct, frozen=True):
    node_id: Id
    node_name: Name
    token: Name
    queue: Name


class ExitRecord(Struct, frozen=True):
    """How a member ended, written durably on the node before it is reported.

    Exactly one of ``exit_code`` and ``signal`` is set when the process was seen to end; both are null for
    ``launch_failed`` and ``lost``.
    """

    cause: ExitCause
    exit_code: Code | None
    signal: Code | None
    started_at: Instant | None
    ended_at: Instant
    message: str = ""


class MemberReport(Struct, frozen=True):
    """One attempt member that the node holds, with its whole state. ``log_bytes``: written on the node so far.
    ``signalled_at``: when the node began to stop it; only a newer checkpoint is the answer to the signal."""

    member_id: Id
    fencing: Count
    state: MemberState
    started_at: Instant | None = None
    log_bytes: Count = 0
    newest_checkpoint_at: Instant | None = None
    exit: ExitRecord | None = None
    signalled_at: Instant | None = None


class Sync(Struct, frozen=True):
    """All that the node holds now. ``sequence`` rises with every message of one boot: an older one is ignored."""

    protocol: int
    boot_id: Name
    sequence: Count
    sent_at: Instant
    agent_version: str
    hardware: Hardware
    members: tuple[MemberReport, ...] = ()
    is_leaving: bool = False


class StopOrder(Struct, frozen=True):
    """Stop this member: ``signal`` to the whole process tree now, SIGKILL after the grace time.

    With a checkpoint folder the grace extends, at most twofold, while a checkpoint is being written.
    """

    member_id: Id
    fencing: Count
    reason: StopReason
    grace_s: Count
    signal: Name = "SIGTERM"


class SyncReply(Struct, frozen=True):
    """All that the node should do: fetch and start ``run``, stop ``stop``, delete ``forget``.

    ``forget`` names members whose exit record and whole log the portal holds. A member that the node runs and
    that is in none of the three goes on running.
    """

    server_time: Instant
    run: tuple[Id, ...] = ()
    stop: tuple[StopOrder, ...] = ()
    forget: tuple[Id, ...] = ()
    sync_interval_s: Count = 5
    sample_interval_s: Count = 10


class DeviceShare(Struct, frozen=True):
    uuid: Name
    milli_gpu: Annotated[int, Meta(ge=1, le=1000)]


class Launch(Struct, frozen=True):
    """All that a node needs to start one member. ``launch_key`` is the same however often it is fetched;
    a node starts a key once in its life. ``env`` carries no secret. ``memory_bytes`` and ``cpus`` 0: no limit.
    """

    member_id: Id
    launch_key: Name
    fencing: Count
    job_id: Id
    job_name: str
    command: tuple[str, ...]
    env: dict[str, str]
    devices: tuple[DeviceShare, ...]
    cpus: Count
    memory_bytes: Count
    max_runtime_s: Count | None
    grace_s: Count
    signal: Name
    checkpoint_dir: str
    rank: Count
    world_size: Annotated[int, Meta(ge=1)]


class LogReply(Struct, frozen=True):
    """``next_offset`` is what the portal holds without a gap: the agent goes on from there."""

    next_offset: Count


class DeviceSeries(Struct, frozen=True):
    """Columns of one device, each as long as ``SampleBatch.at``. Null is *no data*, never 0.

    ``energy_mj`` is a counter since the driver was loaded (millijoule), ``power_mw`` milliwatt, ``clock_mhz`` of
    the streaming multiprocessors.
    """

    uuid: Name
    utilisation_pct: tuple[Percent | None, ...]
    memory_used_bytes: tuple[Count | None, ...]
    power_mw: tuple[Count | None, ...]
    temperature_c: tuple[Code | None, ...]
    energy_mj: tuple[Count | None, ...]
    clock_mhz: tuple[Count | None, ...]


class HostSeries(Struct, frozen=True):
    """Columns of the host. Network and disk are counters since boot, in bytes."""

    cpu_pct: tuple[Percent | None, ...]
    memory_used_bytes: tuple[Count | None, ...]
    disk_used_bytes: tuple[Count | None, ...]
    network_rx_bytes: tuple[Count | None, ...]
    network_tx_bytes: tuple[Count | None, ...]


class SampleBatch(Struct, frozen=True):
    """Samples in time order. The portal keeps what is new, ignores what it has, and stores the clock's skew."""

    protocol: int
    boot_id: Name
    sent_at: Instant
    is_simulated: bool
    at: tuple[Instant, ...]
    devices: tuple[DeviceSeries, ...]
    host: HostSeries | None = None


class SampleReply(Struct, frozen=True):
    accepted: Count
    duplicates: Count
    refused: Count
