"""Child processes: their record on disk, their ends, and what a killed supervisor left behind.

A child is known by its pid together with its start time and the boot of the machine, so that a number that the
system has given to another program meanwhile is never mistaken for the child.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "SLUICE_INSTANCE_MARK"
"""In the environment of every child: finds grandchildren of which no record was written."""

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, told apart from any later one with the same number."""

    pid: int
    started: int
    boot: str

    def is_alive(self) -> bool:
        """Whether just this process still runs; one that has ended but was not waited for does not count."""
        stat = _stat(self.pid)
        return stat is not None and stat.started == self.started and stat.state != "Z" and self.boot == _boot()


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    started: int


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the program's name in brackets and may hold spaces; the 22nd is the start time.
    fields = text.rpartition(")")[2].split()
    return _Stat(state=fields[0], started=int(fields[19]))


def identify(pid: int) -> Identity | None:
    """The process that has this number now."""
    stat = _stat(pid)
    return None if stat is None else Identity(pid=pid, started=stat.started, boot=_boot())


def write_record(path: Path, pid: int) -> None:
    """Remember a child. Written whole or not at all."""
    identity = identify(pid)
    if identity is None:
        return
    fresh = path.with_suffix(".new")
    fresh.write_text(f"{identity.pid} {identity.started} {identity.boot}\n")
    fresh.replace(path)


def read_record(path: Path) -> Identity | None:
    """The child that was remembered, alive or not; nothing if the record is unreadable."""
    try:
        pid, started, boot = path.read_text().split()
        return Identity(pid=int(pid), started=int(started), boot=boot)
    except (FileNotFoundError, ValueError):
        return None


def end_group(pid: int) -> None:
    """Kill what is left of the process group that a child led."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def wait_for_group(pid: int, seconds: float) -> bool:
    """Wait until no process is left of a group; a killed one takes a moment to go."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            os.killpg(pid, 0)
        except ProcessLookupError:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)


def end_leftover(identity: Identity, stop_signal: signal.Signals, patience_seconds: float) -> bool:
    """Stop a child of an earlier supervisor; returns whether there was one."""
    if not identity.is_alive():
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(identity.pid, stop_signal)
    if not wait_until_gone([identity], patience_seconds):
        end_group(identity.pid)
        wait_until_gone([identity], patience_seconds)
    return True


def wait_until_gone(identities: Iterable[Identity], seconds: float) -> bool:
    """Wait for the end of processes that are not our children."""
    left = list(identities)
    deadline = time.monotonic() + seconds
    while left := [identity for identity in left if identity.is_alive()]:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def marked(mark: str) -> list[Identity]:
    """All processes that carry this instance's mark, however they were started."""
    found = [identify(pid) for pid in _pids_with(f"{MARK}={mark}".encode())]
    return [identity for identity in found if identity is not None]


def _pids_with(entry: bytes) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
