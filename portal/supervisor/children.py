"""A supervised child: started in a session of its own, logged to a file, restarted with growing pauses."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from portal.setup.places import ROOT
from portal.supervisor.instance import Instance
from portal.supervisor.processes import end_group, wait_for_group, write_record

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 15.0
_STEADY_SECONDS = 30.0
_GROUP_SECONDS = 5.0
LOG_BYTES = 10_000_000
OLD_LOGS = 3


def _nothing() -> None:
    """Most services need nothing before they start."""


@dataclass(frozen=True, slots=True)
class Service:
    """What to start, and how it wants to be stopped."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 20.0
    before_start: Callable[[], None] = _nothing


class Child:
    """One service of one instance, over all its restarts."""

    def __init__(self, service: Service, instance: Instance) -> None:
        self.service = service
        self.record = instance.run / f"{service.name}.pid"
        self.log = instance.logs / f"{service.name}.log"
        self.deaths_in_a_row = 0
        self.restart_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0

    def start(self) -> None:
        """Start the process. Its output is appended to its log, which survives the supervisor."""
        self.service.before_start()
        with os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            self._process = subprocess.Popen(
                self.service.argv,
                cwd=ROOT,
                env=dict(self.service.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A Ctrl-C at the terminal reaches only the supervisor, which stops the children in order.
                start_new_session=True,
            )
        self._started_at = time.monotonic()
        write_record(self.record, self._process.pid)

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def notice_death(self) -> str | None:
        """If the process has ended since it was started: how, once; plans the restart."""
        if self._process is None or (code := self._process.poll()) is None:
            return None
        end_group(self._process.pid)
        self._process = None
        if time.monotonic() - self._started_at > _STEADY_SECONDS:
            self.deaths_in_a_row = 0
        pause = min(_FIRST_PAUSE_SECONDS * 2**self.deaths_in_a_row, _LONGEST_PAUSE_SECONDS)
        self.deaths_in_a_row += 1
        self.restart_at = time.monotonic() + pause
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def is_due(self) -> bool:
        """Whether an ended process may be started again now."""
        return self._process is None and time.monotonic() >= self.restart_at

    def ask_to_stop(self) -> None:
        """Send the signal that lets the service end in good order."""
        if self._process is not None and self.is_running:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(self.service.stop_signal)

    def kill(self) -> None:
        """End the process and all that it started, now."""
        if self._process is not None:
            end_group(self._process.pid)
            self._process.wait()
            wait_for_group(self._process.pid, _GROUP_SECONDS)

    def forget(self) -> None:
        """The service is stopped on purpose: what is left of its group goes, and its record."""
        self.kill()
        self._process = None
        self.record.unlink(missing_ok=True)

    def last_line(self) -> str:
        """The end of the log, for a message about a child that does not stay up."""
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1].strip() if lines else "its log is empty"

    def rotate_log(self) -> None:
        """Keep the log bounded. Copied and cut, because the child holds the file open; it appends, so that works."""
        if not self.log.exists() or self.log.stat().st_size < LOG_BYTES:
            return
        numbered = [Path(f"{self.log}.{number}") for number in range(1, OLD_LOGS + 1)]
        for older, newer in zip(reversed(numbered[1:]), reversed(numbered[:-1]), strict=True):
            if newer.exists():
                newer.replace(older)
        shutil.copyfile(self.log, numbered[0])
        numbered[0].chmod(0o600)
        os.truncate(self.log, 0)
