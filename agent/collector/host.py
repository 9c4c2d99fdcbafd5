"""The host's own values."""

import contextlib
from pathlib import Path

import psutil
from msgspec import Struct


class HostSample(Struct, frozen=True):
    """The host at one instant. None is *no data*."""

    cpu_pct: float | None = None
    memory_used_bytes: int | None = None
    disk_used_bytes: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None


class HostSampler:
    """CPU load is since the last sample, so the first one has none."""

    def __init__(self, disk: Path) -> None:
        self._disk = disk
        self._has_begun = False

    def sample(self) -> HostSample:
        """One sample. A value that the system does not give is None."""
        cpu_pct = min(100.0, max(0.0, psutil.cpu_percent(interval=None)))
        is_first, self._has_begun = not self._has_begun, True
        memory = psutil.virtual_memory()
        disk: int | None = None
        with contextlib.suppress(OSError):
            disk = psutil.disk_usage(str(self._disk)).used
        received = sent = None
        counters = {
            name: value for name, value in psutil.net_io_counters(pernic=True).items() if not name.startswith("lo")
        }
        if counters:
            received = sum(value.bytes_recv for value in counters.values())
            sent = sum(value.bytes_sent for value in counters.values())
        return HostSample(None if is_first else cpu_pct, memory.total - memory.available, disk, received, sent)
