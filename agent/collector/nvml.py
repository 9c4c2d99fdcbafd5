"""Real devices: the questions to the NVML process, each with a deadline, and what to make of silence."""

import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import DecodeError, convert, json

from agent.collector.devices import NO_DATA, DeviceSample, sane
from agent.durable import write_all
from agent.messages import DeviceReport

log = logging.getLogger(__name__)

INIT_S = 30.0
OPEN_S = 10.0
"""The first touch of a device may wake it up."""
DEVICE_S = 2.0
RETRY_S = 300.0
INIT_RETRY_S = 60.0
NAME_PREFIX = "NVIDIA "

Reports = tuple[DeviceReport, ...]


class Silence(Exception):
    """The process did not answer in time, or is gone."""


class NvmlProcess:
    """One child. After a deadline was missed it is killed and never spoken to again."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agent.collector.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
            start_new_session=True,
        )
        self._rest = b""

    def ask(self, question: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        """One question, one answer. Raises Silence."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise Silence("no pipe")
        until = time.monotonic() + deadline_s
        try:
            write_all(stdin.fileno(), json.encode(question) + b"\n")
        except OSError as error:
            raise Silence("the NVML process is gone") from error
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([stdout], [], [], left)[0]:
                raise Silence(f"no answer in {deadline_s:g} s")
            part = os.read(stdout.fileno(), 65536)
            if not part:
                raise Silence("the NVML process ended")
            self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            return json.decode(line, type=dict[str, Any])
        except DecodeError as error:
            raise Silence("an answer that is none") from error

    def kill(self) -> None:
        """End it. A process stuck in the driver cannot be waited for: it goes when the driver lets it."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            log.warning("the NVML process %s hangs in the driver", self._process.pid)


@dataclass
class _Device:
    report: DeviceReport
    retry_at: float = 0.0
    """Not asked before: after a hang, each try may cost a process."""


class NvmlDevices:
    """Devices by UUID. One that hangs, is lost or is missing is reported lost; the others go on."""

    def __init__(
        self, remembered: tuple[DeviceReport, ...], remember: Callable[[tuple[DeviceReport, ...]], None]
    ) -> None:
        self.interconnect = ""
        self.driver_version = ""
        self._remember = remember
        self._process: NvmlProcess | None = None
        self._devices = {report.uuid: _Device(replace_state(report, "lost")) for report in remembered}
        self._open: dict[str, int] = {}
        self._avoid: dict[int, str] = {}
        self._next_start = 0.0
        self._next_retry = 0.0
        self._problem = ""
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Start the process if it is due, and open what can be opened."""
        with self._lock:
            self._ensure_process()

    def devices(self) -> tuple[DeviceReport, ...]:
        """As last seen."""
        known = tuple(device.report for device in list(self._devices.values()))
        return tuple(sorted(known, key=lambda report: (report.index, report.uuid)))

    def sample(self, held: Mapping[str, int]) -> dict[str, DeviceSample]:
        """Ask each device in turn; a silent one costs its deadline once, then waits for its retry."""
        del held
        with self._lock:
            self._ensure_process()
            return {uuid: self._sample_one(uuid) for uuid in list(self._devices)}

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._drop_process()

    def _drop_process(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._open = {}

    def _ensure_process(self) -> None:
        now = time.monotonic()
        is_retry_due = bool(self._lost()) and now >= self._next_retry
        if self._process is not None and is_retry_due:
            # Only a fresh process sees a device that was reset or a driver that was loaded anew.
            self._drop_process()
            self._avoid = {}
        if self._process is not None or now < self._next_start:
            return
        self._next_retry = now + RETRY_S
        try:
            self._start()
        except Silence as silence:
            self._out_of_order(str(silence))

    def _lost(self) -> list[str]:
        return [uuid for uuid, device in self._devices.items() if device.report.state == "lost"]

    def _out_of_order(self, problem: str) -> None:
        """NVML as a whole does not work: every device we know of is lost until it does."""
        self._drop_process()
        self._next_start = time.monotonic() + INIT_RETRY_S
        if problem != self._problem:
            log.warning("NVML: %s", problem)
        self._problem = problem
        for device in self._devices.values():
            device.report = replace_state(device.report, "lost")

    def _start(self) -> None:
        self._process = NvmlProcess()
        answer = self._process.ask({"ask": "init"}, INIT_S)
        if "error" in answer:
            self._out_of_order(str(answer["error"]))
            return
        self._problem = ""
        self.driver_version = str(answer["driver_version"])
        found = self._open_all(int(answer["count"]))
        for uuid in self._devices.keys() - found:
            self._mark_lost(uuid, "missing")
        self._remember(self.devices())

    def _open_all(self, count: int) -> set[str]:
        """Open each index; one that hangs is left out and the process replaced, so that the others are seen."""
        for index in range(count):
            if index in self._avoid:
                continue
            try:
                answer = self._asked({"ask": "open", "index": index}, OPEN_S)
            except Silence as silence:
                uuid = next((uuid for uuid, device in self._devices.items() if device.report.index == index), "")
                log.warning("device %s %s: %s", index, uuid, silence)
                self._avoid[index] = uuid
                self._drop_process()
                self._start()
                return set(self._open)
            if "uuid" in answer:
                self._found(index, answer)
        return set(self._open)

    def _found(self, index: int, answer: dict[str, Any]) -> None:
        uuid = str(answer["uuid"])
        report = DeviceReport(
            uuid=uuid,
            index=index,
            gpu_model=str(answer["name"]).removeprefix(NAME_PREFIX),
            memory_bytes=int(answer["memory_bytes"]),
            is_simulated=False,
        )
        self._devices[uuid] = _Device(report)
        self._open[uuid] = index
        if answer["has_nvlink"]:
            self.interconnect = "nvlink"

    def _asked(self, question: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        if self._process is None:
            raise Silence("no NVML process")
        return self._process.ask(question, deadline_s)

    def _sample_one(self, uuid: str) -> DeviceSample:
        index = self._open.get(uuid)
        if index is None or self._process is None:
            return NO_DATA
        try:
            answer = self._asked({"ask": "sample", "index": index}, DEVICE_S)
        except Silence as silence:
            self._mark_lost(uuid, str(silence))
            self._avoid[index] = uuid
            self._drop_process()
            self._restart_after_hang()
            return NO_DATA
        if answer.get("lost"):
            self._mark_lost(uuid, "fallen off the bus")
            return NO_DATA
        device = self._devices[uuid]
        if device.report.state == "lost":
            device.report = replace_state(device.report, "ok")
        return sane(convert(answer, DeviceSample), device.report.memory_bytes)

    def _restart_after_hang(self) -> None:
        self._next_retry = time.monotonic() + RETRY_S
        try:
            self._start()
        except Silence as silence:
            self._out_of_order(str(silence))

    def _mark_lost(self, uuid: str, why: str) -> None:
        device = self._devices[uuid]
        if device.report.state != "lost":
            log.error("device %s is lost: %s", uuid, why)
        device.report = replace_state(device.report, "lost")


def replace_state(report: DeviceReport, state: str) -> DeviceReport:
    """The same device in another state."""
    return DeviceReport(
        report.uuid,
        report.index,
        report.gpu_model,
        report.memory_bytes,
        report.is_simulated,
        "lost" if state == "lost" else "ok",
    )
