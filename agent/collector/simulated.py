"""Devices that do not exist. They say so in every message, and their values follow what jobs hold."""

import hashlib
import math
import re
import time
import uuid
from collections.abc import Mapping

from agent.collector.devices import DeviceSample
from agent.messages import DeviceReport
from agent.runner.plan import SIMULATED_PREFIX
from agent.settings import Simulation

GIB = 1 << 30
MODELS_GIB = {
    "GB200": 186, "B200": 180, "H200": 141, "H100": 80, "H800": 80, "A100": 80, "A800": 80, "L40": 48,
    "A40": 48, "A6000": 48, "V100": 32, "A30": 24, "L4": 24, "A10": 24, "4090": 24, "3090": 24, "T4": 16,
}  # fmt: skip
IDLE_W = 70
BUSY_W = 480
IDLE_C = 32
BUSY_C = 66
IDLE_MHZ = 345
BUSY_MHZ = 1755
PERIOD_S = 47.0


def memory_of(gpu_model: str) -> int:
    """Memory by the size in the model's name, else by a table, else 80 GiB."""
    said = re.search(r"(\d+)\s*G(?:i?B)?\b", gpu_model, re.IGNORECASE)
    if said:
        return int(said.group(1)) * GIB
    name = gpu_model.upper()
    return next((size for key, size in MODELS_GIB.items() if key in name), 80) * GIB


def device_uuid(home_tag: str, index: int) -> str:
    """The same for the same home and index, however often the agent starts."""
    digest = hashlib.sha256(f"{home_tag}/{index}".encode()).digest()
    return f"{SIMULATED_PREFIX}{uuid.UUID(bytes=digest[:16])}"


class SimulatedDevices:
    """Busy while a job holds the device, idle otherwise."""

    interconnect = ""
    driver_version = ""

    def __init__(self, simulation: Simulation, home_tag: str) -> None:
        memory_bytes = memory_of(simulation.gpu_model)
        self._reports = tuple(
            DeviceReport(device_uuid(home_tag, index), index, simulation.gpu_model, memory_bytes, True)
            for index in range(simulation.count)
        )
        self._energy_mj = dict.fromkeys((report.uuid for report in self._reports), 1.0)
        self._sampled_at: float | None = None

    def refresh(self) -> None:
        """Nothing changes."""

    def devices(self) -> tuple[DeviceReport, ...]:
        """All of them, always."""
        return self._reports

    def sample(self, held: Mapping[str, int]) -> dict[str, DeviceSample]:
        """One sample of each."""
        now = time.time()
        elapsed_s = now - self._sampled_at if self._sampled_at is not None else 0.0
        self._sampled_at = now
        return {
            report.uuid: self._one(report, held.get(report.uuid, 0) / 1000, now, max(0.0, elapsed_s))
            for report in self._reports
        }

    def _one(self, report: DeviceReport, share: float, now: float, elapsed_s: float) -> DeviceSample:
        wave = math.sin(2 * math.pi * (now / PERIOD_S + report.index / 5))
        load = min(1.0, share) * (0.9 + 0.07 * wave)
        power_w = IDLE_W + (BUSY_W - IDLE_W) * load + 4 * wave
        self._energy_mj[report.uuid] += power_w * 1000 * elapsed_s
        memory = report.memory_bytes * (0.006 + 0.72 * min(1.0, share))
        return DeviceSample(
            utilisation_pct=round(100 * load),
            memory_used_bytes=int(memory),
            power_mw=int(power_w * 1000),
            temperature_c=round(IDLE_C + (BUSY_C - IDLE_C) * load + wave),
            energy_mj=int(self._energy_mj[report.uuid]),
            clock_mhz=round(IDLE_MHZ + (BUSY_MHZ - IDLE_MHZ) * (load > 0)),
        )

    def close(self) -> None:
        """Nothing to give back."""
