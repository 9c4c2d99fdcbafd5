"""Real NVML calls against a library of our own: proves our code paths, not drivers."""

import subprocess
import time
from collections.abc import Callable
from ctypes.util import find_library
from pathlib import Path

import pytest

from agent.collector import nvml
from agent.collector.devices import NO_DATA, DeviceSample
from agent.collector.nvml import NvmlDevices
from agent.messages import DeviceReport

SOURCE = Path(__file__).with_name("fake_nvml.c")
TOTAL = 85_899_345_920
MODEL = f"name=NVIDIA_H100_80GB total={TOTAL}"
FIRST = f"uuid=GPU-0 {MODEL} util=37 used=1073741824 power=312000 temp=61 energy=5000 clock=1755"
SECOND = f"uuid=GPU-1 {MODEL} util=0 used=0 power=70000 temp=30 energy=9000 clock=345"
SAMPLE = DeviceSample(37, 1_073_741_824, 312_000, 61, 5_000, 1_755)
IDLE = DeviceSample(0, 0, 70_000, 30, 9_000, 345)

Library = Callable[..., Path]
Say = Callable[..., None]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Builds the fake library; returns its folder."""

    def build(*options: str) -> Path:
        folder = tmp_path_factory.mktemp("nvml")
        command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wl,-soname,libnvidia-ml.so.1", *options]
        subprocess.run([*command, "-o", str(folder / "libnvidia-ml.so.1"), str(SOURCE)], check=True)
        return folder

    return build


@pytest.fixture(scope="session")
def new_driver(library: Library) -> Path:
    return library()


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, new_driver: Path) -> Say:
    """Sets what the library says from now on."""
    scenario = tmp_path / "scenario"
    monkeypatch.setenv("SLUICE_FAKE_NVML", str(scenario))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(new_driver))

    def write(*devices: str, init: int = 0) -> None:
        scenario.write_text(f"init {init}\n" + "".join(f"device {device}\n" for device in devices))

    return write


@pytest.fixture
def remembered() -> list[tuple[DeviceReport, ...]]:
    return []


@pytest.fixture
def source(say: Say, remembered: list[tuple[DeviceReport, ...]]) -> "Source":
    return Source(remembered)


class Source:
    """Makes device sources that share one memory, as agents of one home do."""

    def __init__(self, remembered: list[tuple[DeviceReport, ...]]) -> None:
        self.remembered = remembered

    def __call__(self) -> NvmlDevices:
        known = self.remembered[-1] if self.remembered else ()
        devices = NvmlDevices(known, self.remembered.append)
        devices.refresh()
        return devices


def states(devices: NvmlDevices) -> dict[str, str]:
    return {report.uuid: report.state for report in devices.devices()}


def test_two_devices_are_described_and_sampled(say: Say, source: Source) -> None:
    say(f"{FIRST} nvlink=1", SECOND)
    devices = source()
    assert devices.devices() == (
        DeviceReport("GPU-0", 0, "H100 80GB", TOTAL, False, "ok"),
        DeviceReport("GPU-1", 1, "H100 80GB", TOTAL, False, "ok"),
    )
    assert devices.driver_version == "550.54.15"
    assert devices.interconnect == "nvlink"
    assert devices.sample({}) == {"GPU-0": SAMPLE, "GPU-1": IDLE}
    devices.close()


def test_what_a_device_does_not_support_is_no_data_and_never_zero(say: Say, source: Source) -> None:
    say(f"uuid=GPU-0 name=X total={TOTAL} used=5 power=1000")
    devices = source()
    assert devices.sample({}) == {"GPU-0": DeviceSample(memory_used_bytes=5, power_mw=1000)}
    assert devices.interconnect == ""
    devices.close()


def test_an_old_driver_costs_the_columns_it_lacks_only(
    say: Say, source: Source, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library("-DOLD_DRIVER")))
    say(FIRST)
    devices = source()
    sample = devices.sample({})["GPU-0"]
    assert sample == DeviceSample(37, 1_073_741_824, 312_000, 61, None, 1_755)
    devices.close()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ("util=101", "utilisation_pct"),
        (f"used={TOTAL + 1}", "memory_used_bytes"),
        ("power=4294967295", "power_mw"),
        ("temp=4294967295", "temperature_c"),
        ("energy=0", "energy_mj"),
        ("clock=4294967295", "clock_mhz"),
        ("err.util=3", "utilisation_pct"),
        ("err.power=999", "power_mw"),
    ],
)
def test_a_value_that_cannot_be_true_is_no_data_and_spoils_no_other(
    say: Say, source: Source, change: str, field: str
) -> None:
    # The library takes the first of two equal keys.
    say(f"{change} {FIRST}")
    devices = source()
    sample = devices.sample({})["GPU-0"]
    assert getattr(sample, field) is None
    others = {name for name in DeviceSample.__struct_fields__ if name != field}
    assert {name for name in others if getattr(sample, name) != getattr(SAMPLE, name)} == set()
    devices.close()


def test_a_device_that_falls_off_is_lost_under_its_uuid_and_the_other_goes_on(say: Say, source: Source) -> None:
    say(FIRST, SECOND)
    devices = source()
    say(f"{FIRST} err=15", SECOND)
    assert devices.sample({}) == {"GPU-0": NO_DATA, "GPU-1": IDLE}
    assert states(devices) == {"GPU-0": "lost", "GPU-1": "ok"}
    devices.close()


def test_a_device_that_is_missing_after_a_restart_is_lost(say: Say, source: Source) -> None:
    say(FIRST, SECOND)
    source().close()
    say(SECOND)
    devices = source()
    assert states(devices) == {"GPU-0": "lost", "GPU-1": "ok"}
    assert devices.sample({}) == {"GPU-0": NO_DATA, "GPU-1": IDLE}
    devices.close()


@pytest.mark.fault
def test_a_hung_call_costs_its_deadline_once_and_only_its_device(say: Say, source: Source) -> None:
    say(FIRST, SECOND)
    devices = source()
    say(f"{FIRST} hang=1", SECOND)
    began = time.monotonic()
    assert devices.sample({}) == {"GPU-0": NO_DATA, "GPU-1": IDLE}
    assert nvml.DEVICE_S <= time.monotonic() - began < nvml.DEVICE_S + 3
    assert states(devices) == {"GPU-0": "lost", "GPU-1": "ok"}
    began = time.monotonic()
    assert devices.sample({}) == {"GPU-0": NO_DATA, "GPU-1": IDLE}
    assert time.monotonic() - began < nvml.DEVICE_S
    devices.close()


@pytest.mark.fault
def test_a_device_that_hangs_when_it_is_opened_does_not_hide_the_other(
    say: Say, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvml, "OPEN_S", 0.5)
    say(FIRST, SECOND)
    source().close()
    say(f"{FIRST} hang=2", SECOND)
    devices = source()
    assert states(devices) == {"GPU-0": "lost", "GPU-1": "ok"}
    assert devices.sample({})["GPU-1"] == IDLE
    devices.close()


@pytest.mark.parametrize("code", [4, 9, 18])
def test_when_nvml_does_not_start_every_known_device_is_lost(say: Say, source: Source, code: int) -> None:
    say(FIRST)
    source().close()
    say(FIRST, init=code)
    devices = source()
    assert states(devices) == {"GPU-0": "lost"}
    assert devices.sample({}) == {"GPU-0": NO_DATA}
    devices.close()


def test_lost_devices_come_back_with_a_fresh_process(say: Say, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "RETRY_S", 0.0)
    say(FIRST)
    devices = source()
    say(f"{FIRST} err=15")
    assert devices.sample({}) == {"GPU-0": NO_DATA}
    say(FIRST)
    assert devices.sample({}) == {"GPU-0": SAMPLE}
    assert states(devices) == {"GPU-0": "ok"}
    devices.close()


@pytest.mark.skipif(find_library("nvidia-ml") is not None, reason="this machine has a driver of its own")
def test_without_a_library_there_are_no_devices(
    say: Say, source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    devices = source()
    assert devices.devices() == ()
    assert devices.sample({}) == {}
    devices.close()
