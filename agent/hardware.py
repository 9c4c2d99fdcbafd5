"""What the node has: CPUs, memory, disk, network, devices."""

import contextlib
import os
import socket

import psutil

from agent.collector.devices import DeviceSource
from agent.home import Home
from agent.messages import Hardware
from agent.settings import Settings

MEGABIT = 1_000_000


def network_bps() -> int | None:
    """Speed of the fastest link that is up, or None where the system does not say."""
    speeds = [stats.speed for name, stats in psutil.net_if_stats().items() if stats.isup and not name.startswith("lo")]
    best = max(speeds, default=0)
    return best * MEGABIT if best > 0 else None


def real_cpus() -> tuple[int, ...]:
    """CPUs that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def pinnable_cpus(settings: Settings) -> tuple[int, ...]:
    """CPUs to give out one by one: none where the node only claims to have more than it has."""
    cpus = real_cpus()
    return () if settings.cpus is not None and settings.cpus > len(cpus) else cpus


def describe(settings: Settings, home: Home, source: DeviceSource) -> Hardware:
    """The whole node as of now."""
    memory_bytes = settings.memory_bytes
    if memory_bytes is None:
        memory_bytes = psutil.virtual_memory().total
    disk_bytes = 0
    with contextlib.suppress(OSError):
        disk_bytes = psutil.disk_usage(str(home.path)).total
    return Hardware(
        hostname=socket.gethostname() or "unknown",
        cpus=settings.cpus if settings.cpus is not None else len(real_cpus()),
        memory_bytes=memory_bytes,
        disk_bytes=disk_bytes,
        devices=source.devices(),
        is_simulated=settings.simulation is not None,
        interconnect=source.interconnect,
        network_bps=network_bps(),
        driver_version=source.driver_version,
    )
