"""What every source of device samples offers, real or simulated."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from agent.messages import DeviceReport


class DeviceSample(Struct, frozen=True):
    """One device at one instant. None is *no data*; 0 is a measurement."""

    utilisation_pct: float | None = None
    memory_used_bytes: int | None = None
    power_mw: int | None = None
    temperature_c: int | None = None
    energy_mj: int | None = None
    clock_mhz: int | None = None


NO_DATA = DeviceSample()


class DeviceSource(Protocol):
    """Where devices and their samples come from."""

    interconnect: str
    driver_version: str

    def refresh(self) -> None:
        """Look which devices there are. May take seconds, never longer than its deadlines."""

    def devices(self) -> tuple[DeviceReport, ...]:
        """The devices as last seen, lost ones included. Never waits."""

    def sample(self, held: Mapping[str, int]) -> dict[str, DeviceSample]:
        """One sample of each device; ``held`` is what jobs hold of each, in milli-GPU."""

    def close(self) -> None:
        """Give everything back."""


_LIMITS: dict[str, tuple[float, float]] = {
    "utilisation_pct": (0, 100),
    "power_mw": (0, 5_000_000),
    "temperature_c": (-40, 150),
    "energy_mj": (1, 2**63 - 1),
    "clock_mhz": (0, 10_000),
}


def sane(sample: DeviceSample, memory_bytes: int) -> DeviceSample:
    """The sample with every value that cannot be true replaced by *no data*."""
    values: dict[str, float | None] = {
        "utilisation_pct": sample.utilisation_pct,
        "power_mw": sample.power_mw,
        "temperature_c": sample.temperature_c,
        "energy_mj": sample.energy_mj,
        "clock_mhz": sample.clock_mhz,
    }
    bad = {
        name
        for name, value in values.items()
        if value is not None and not _LIMITS[name][0] <= value <= _LIMITS[name][1]
    }
    memory = sample.memory_used_bytes
    if memory is not None and not 0 <= memory <= memory_bytes:
        memory = None
    return DeviceSample(
        utilisation_pct=None if "utilisation_pct" in bad else sample.utilisation_pct,
        memory_used_bytes=memory,
        power_mw=None if "power_mw" in bad else sample.power_mw,
        temperature_c=None if "temperature_c" in bad else sample.temperature_c,
        energy_mj=None if "energy_mj" in bad else sample.energy_mj,
        clock_mhz=None if "clock_mhz" in bad else sample.clock_mhz,
    )
