"""A real agent as a child process of the test."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent import messages
from agent.collector.simulated import device_uuid
from agent.home import Home
from agent.runner import proctree
from agent.tests.portal_server import ENROLMENT_TOKEN, PortalServer

ROOT = Path(__file__).resolve().parents[2]


class AgentProcess:
    """Starts, stops and kills agents of one home folder."""

    def __init__(self, portal: PortalServer, folder: Path) -> None:
        self.portal = portal
        self.home = folder / "home"
        self.log = folder / "agent.log"
        self.token_file = folder / "token"
        self.token_file.write_text(ENROLMENT_TOKEN + "\n")
        self.arguments: list[str] = ["--simulate", "H100:2"]
        self.environment: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *more: str) -> None:
        """Start an agent."""
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **self.environment}
        command = [sys.executable, "-m", "agent", "--home", str(self.home), "--portal", self.portal.url]
        command += ["--enrolment-token-file", str(self.token_file), *self.arguments, *more]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, process_group=0)

    def end(self, number: int = signal.SIGTERM, timeout_s: float = 30.0) -> int:
        """Send a signal and wait for the end."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        status = self.process.wait(timeout_s)
        self.process = None
        return status

    def interrupt_group(self) -> int:
        """What Ctrl-C on a terminal does: SIGINT to the whole process group."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGINT)
        status = self.process.wait(30)
        self.process = None
        return status

    def kill(self) -> None:
        """kill -9."""
        self.end(signal.SIGKILL)

    def member(self, member_id: int) -> Path:
        """A member's folder."""
        return self.home / "members" / str(member_id)

    def device(self, index: int) -> str:
        """UUID of a simulated device."""
        return device_uuid(Home(self.home).tag, index)

    def clean_up(self) -> None:
        """Leave no process behind, shims and jobs included."""
        if self.process is not None:
            self.kill()
        ours = str(self.home).encode()
        for process in proctree.all_processes().values():
            with contextlib.suppress(OSError):
                if ours in (Path("/proc") / str(process.pid) / "cmdline").read_bytes():
                    proctree.kill_each([*proctree.descendants(process.pid), process])


def launch(member_id: int, command: list[str] | str, **changes: Any) -> messages.Launch:
    """A launch of one member; a text is a shell command."""
    words = ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
    values: dict[str, Any] = {
        "member_id": member_id,
        "launch_key": f"key-{member_id}",
        "fencing": 3,
        "job_id": 100 + member_id,
        "job_name": "a job",
        "command": words,
        "env": {},
        "devices": (),
        "cpus": 0,
        "memory_bytes": 0,
        "max_runtime_s": None,
        "grace_s": 5,
        "signal": "SIGTERM",
        "checkpoint_dir": "",
        "rank": 0,
        "world_size": 1,
    }
    return messages.Launch(**{**values, **changes})


def eventually(condition: Callable[[], Any], what: str, timeout_s: float = 15.0) -> Any:
    """Poll a fact about the machine until it holds."""
    until = time.monotonic() + timeout_s
    while not (result := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"{what}: not within {timeout_s} s")
        time.sleep(0.02)
    return result
