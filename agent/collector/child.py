"""The process that calls NVML: one JSON question a line in, one answer a line out.

It initialises NVML once, after it was started, and never forks. Each function falls back by itself: an old
driver that lacks one symbol costs one column. Whoever asks keeps the time; a call that hangs is ended by
killing this process.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml

PACKAGE_FILE = "pynvml.py"
NVLINKS = 18
LOST = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_GPU_NOT_FOUND)


class LostDevice(Exception):
    """The device has fallen off."""


def is_right_package() -> bool:
    """Other packages ship a ``pynvml`` too; nvidia-ml-py's is one single module."""
    path = Path(pynvml.__file__ or "")
    return path.name == PACKAGE_FILE and hasattr(pynvml, "nvmlInitWithFlags")


def attempt(function: Callable[[], Any]) -> Any:
    """The function's value, None where this driver or device has none. Raises LostDevice."""
    try:
        return function()
    except pynvml.NVMLError as error:
        # The class is unhashable and compares badly: only its number is looked at.
        if getattr(error, "value", None) in LOST:
            raise LostDevice from None
        return None
    except (UnicodeDecodeError, AttributeError, TypeError, pynvml.NVMLLibraryMismatchError):
        return None


class Answers:
    """One method per question."""

    def __init__(self) -> None:
        self._handles: dict[int, Any] = {}

    def init(self) -> dict[str, Any]:
        """Initialise; says how many devices there are, or why NVML does not work."""
        if not is_right_package():
            return {"error": f"pynvml comes from {pynvml.__file__}, not from nvidia-ml-py"}
        try:
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            return {"error": str(error), "code": getattr(error, "value", None)}
        return {"count": count, "driver_version": attempt(pynvml.nvmlSystemGetDriverVersion) or ""}

    def open(self, index: int) -> dict[str, Any]:
        """The device at this index: identity and size."""
        handle = attempt(lambda: pynvml.nvmlDeviceGetHandleByIndex(index))
        if handle is None:
            return {"error": "no handle"}
        self._handles[index] = handle
        uuid = attempt(lambda: pynvml.nvmlDeviceGetUUID(handle))
        if not uuid:
            return {"error": "no UUID"}
        memory = self._memory(handle)
        return {
            "uuid": uuid,
            "name": attempt(lambda: pynvml.nvmlDeviceGetName(handle)) or "unknown",
            "memory_bytes": memory.total if memory is not None else 0,
            "has_nvlink": self._has_nvlink(handle),
        }

    def sample(self, index: int) -> dict[str, Any]:
        """What the device does now; a column without data is null."""
        handle = self._handles[index]
        rates = attempt(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
        memory = self._memory(handle)
        return {
            "utilisation_pct": rates.gpu if rates is not None else None,
            "memory_used_bytes": memory.used if memory is not None else None,
            "power_mw": attempt(lambda: pynvml.nvmlDeviceGetPowerUsage(handle)),
            "temperature_c": attempt(lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)),
            "energy_mj": attempt(lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)),
            "clock_mhz": attempt(lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)),
        }

    @staticmethod
    def _memory(handle: Any) -> Any:
        """The second version leaves the driver's reserve out of *used*; old drivers have only the first."""
        newer = attempt(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2))
        return newer if newer is not None else attempt(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))

    @staticmethod
    def _has_nvlink(handle: Any) -> bool:
        def state(link: int) -> Any:
            return attempt(lambda: pynvml.nvmlDeviceGetNvLinkState(handle, link))

        # A device without links answers the first question with an error.
        return state(0) is not None and any(state(link) for link in range(NVLINKS))

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer one question."""
        try:
            match question["ask"]:
                case "init":
                    return self.init()
                case "open":
                    return self.open(question["index"])
                case _:
                    return self.sample(question["index"])
        except LostDevice:
            return {"lost": True}


def main() -> None:
    """Answer until the questions end."""
    answers = Answers()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answers.answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
