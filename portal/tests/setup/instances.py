"""Real instances for the fault tests: started by ``./run`` from this checkout, in temporary folders."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from portal.setup.places import ROOT
from portal.supervisor.instance import HOST, Instance, free_port
from portal.supervisor.processes import Identity, marked, read_record
from portal.supervisor.readiness import missing

RUN = [sys.executable, str(ROOT / "run")]
START_SECONDS = 100.0
RECOVERY_SECONDS = 45.0


def eventually(condition: Callable[[], bool], seconds: float = RECOVERY_SECONDS) -> None:
    """Wait for a real event, with a deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {condition}"
        time.sleep(0.1)


@dataclass
class Running:
    """One ``./run`` on one data folder."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None
    options: tuple[str, ...] = ("--empty",)

    @property
    def instance(self) -> Instance:
        return Instance(self.folder)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def environment(self) -> dict[str, str]:
        """What ``./run`` inherits."""
        return dict(os.environ)

    def begin(self) -> None:
        """Start without waiting for anything."""
        argv = [*RUN, "--data", str(self.folder), "--port", str(self.port), "--no-browser", *self.options]
        self.process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=self._notes(),
            text=True,
            start_new_session=True,
            env=self.environment(),
        )

    def start(self) -> str:
        """Start and return the first line on standard output."""
        self.begin()
        assert self.process is not None
        assert self.process.stdout is not None
        return str(self.process.stdout.readline())

    def _notes(self) -> int:
        return os.open(f"{self.folder}.stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def notes(self) -> str:
        """What the supervisor said on standard error."""
        return Path(f"{self.folder}.stderr").read_text()

    def end(self, number: signal.Signals) -> int:
        """Send the supervisor a signal and wait for its end."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=90)

    def missing(self) -> str:
        """What is not ready, in words; empty when everything is."""
        return missing(self.address)

    def wait_until_ready(self) -> None:
        """Wait until the instance calls itself ready; a failure says what was missing last."""
        answers = [""]
        try:
            eventually(lambda: not answers.__setitem__(0, self.missing()) and not answers[0])
        except AssertionError:
            pytest.fail(answers[0])

    def forget_heartbeats(self) -> None:
        """Empty the cache, so that only workers that live now count as alive."""
        self.broker(database=1).flushdb()

    def children(self) -> dict[str, Identity]:
        """The live children on record, by name."""
        records = {path.stem: read_record(path) for path in self.instance.run.glob("*.pid")}
        return {name: record for name, record in records.items() if record is not None and record.is_alive()}

    def processes(self) -> list[Identity]:
        """Everything of this instance that lives, on record or not."""
        return [identity for identity in marked(self.instance.secret("mark")) if identity.is_alive()]

    def database(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=HOST,
            port=self.instance.ports().database,
            user="sluice",
            dbname="sluice",
            password=self.instance.secret("database-password"),
            autocommit=True,
            connect_timeout=5,
        )

    def broker(self, database: int = 0) -> Redis:
        port = self.instance.ports().broker
        return Redis(host=HOST, port=port, db=database, password=self.instance.secret("broker-password"))


def run_once(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One ``./run`` command to its end."""
    return subprocess.run([*RUN, *arguments], capture_output=True, text=True, timeout=100, check=False)


READY = re.compile(r"ready http://127\.0\.0\.1:(\d+)\n")
