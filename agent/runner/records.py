"""What a member's folder holds besides the job's own files."""

import time
from datetime import UTC, datetime

from msgspec import Struct

from agent.messages import ExitCause, Instant, Launch


class Plan(Struct, frozen=True):
    """What the shim needs, decided by the agent. The shim reads it as plain JSON."""

    command: tuple[str, ...]
    env: dict[str, str]
    work: str
    uid: int | None
    gid: int | None
    cpu_ids: tuple[int, ...]
    memory_bytes: int
    group: str
    max_runtime_s: int | None
    grace_s: int
    signal: str
    checkpoint_dir: str
    log_cap_bytes: int


class LaunchFile(Struct, frozen=True):
    """``launch.json``: what the portal asked for and what this node made of it. Holds no secret.

    Without a plan the node refused it, and an exit record says why.
    """

    launch: Launch
    plan: Plan | None = None


class Started(Struct, frozen=True):
    """``started.json``, by the shim, on disk before the command runs. A pid counts with its start time and boot."""

    pid: int
    start_ticks: int
    shim_pid: int
    shim_ticks: int
    machine_boot_id: str
    started_at: Instant
    group: str


class StopFile(Struct, frozen=True):
    """``stop.json``, by the agent. The clock is the machine's monotonic one, the same for agent and shim."""

    cause: ExitCause
    signal: str
    grace_s: int
    ordered_monotonic: float
    message: str = ""
    ordered_at: Instant | None = None
    """By the machine's clock of days: a checkpoint is compared with it."""


def stop_file(cause: ExitCause, signal: str, grace_s: int) -> StopFile:
    """An order that begins now."""
    return StopFile(cause, signal, grace_s, time.monotonic(), ordered_at=datetime.now(UTC))
