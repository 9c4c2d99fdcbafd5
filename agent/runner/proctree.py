"""Who descends from whom, read from /proc.

Standard library only: the shim of a job imports it without site-packages.
"""

import contextlib
import os
import signal
from pathlib import Path

PROC = Path("/proc")
MARKER = "SLUICE_LAUNCH_KEY"


class ProcessInfo:
    """One line of ``/proc/PID/stat``. ``start_ticks`` with the pid names a process for the whole boot."""

    __slots__ = ("pid", "ppid", "rss_pages", "session", "start_ticks", "state")

    def __init__(self, pid: int, fields: list[str]) -> None:
        # The fields after the command's closing bracket; proc(5) counts from 3.
        self.pid = pid
        self.state = fields[0]
        self.ppid = int(fields[1])
        self.session = int(fields[3])
        self.start_ticks = int(fields[19])
        self.rss_pages = int(fields[21])


def read_process(pid: int) -> ProcessInfo | None:
    """The process, or None when it is gone."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return ProcessInfo(pid, text[text.rindex(")") + 2 :].split())


def all_processes() -> dict[int, ProcessInfo]:
    """Every process that this one may see, zombies included."""
    found = (read_process(int(name)) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208
    return {process.pid: process for process in found if process is not None}


def descendants(root: int, processes: dict[int, ProcessInfo] | None = None) -> list[ProcessInfo]:
    """All processes below ``root`` (without it), parents first, zombies left out."""
    known = all_processes() if processes is None else processes
    children: dict[int, list[ProcessInfo]] = {}
    for process in known.values():
        children.setdefault(process.ppid, []).append(process)
    result: list[ProcessInfo] = []
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            waiting.append(child.pid)
            if child.state not in "ZX":
                result.append(child)
    return result


def resident_bytes(processes: list[ProcessInfo]) -> int:
    """Sum of resident memory. Shared pages count once per process, so this is an upper bound."""
    page = os.sysconf("SC_PAGE_SIZE")
    return sum(process.rss_pages for process in processes) * page


def proportional_bytes(processes: list[ProcessInfo]) -> int:
    """Memory with each shared page divided among those who share it; resident size where that is hidden."""
    total = 0
    for process in processes:
        try:
            text = (PROC / str(process.pid) / "smaps_rollup").read_text()
        except OSError:
            total += resident_bytes([process])
            continue
        lines = (line.split() for line in text.splitlines() if line.startswith("Pss:"))
        total += sum(int(words[1]) * 1024 for words in lines)
    return total


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether that very process lives: a reused pid has another start time."""
    process = read_process(pid)
    return process is not None and process.start_ticks == start_ticks and process.state not in "ZX"


def signal_each(processes: list[ProcessInfo], number: int) -> None:
    """Send a signal to each; who has gone meanwhile is passed over."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def carries_key(pid: int, launch_key: str) -> bool:
    """Whether the process was started with this launch key in its environment."""
    try:
        content = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{MARKER}={launch_key}".encode() in content.split(b"\0")


def orphans(leader: int, leader_ticks: int, launch_key: str) -> list[ProcessInfo]:
    """What is left of a job whose shim is gone: its subtree, its session, and whoever carries its launch key.

    A session's number stays taken while one member of it lives, so a foreign process can only have it when the
    pid names another leader now.
    """
    known = all_processes()
    head = known.get(leader)
    is_ours = head is not None and head.start_ticks == leader_ticks
    found = {process.pid: process for process in descendants(leader, known)} if is_ours else {}
    for process in known.values():
        in_session = process.session == leader and (is_ours or head is None)
        if process.state in "ZX" or process.pid == os.getpid():
            continue
        if in_session or carries_key(process.pid, launch_key):
            found[process.pid] = process
    return list(found.values())


def kill_each(processes: list[ProcessInfo]) -> None:
    """SIGKILL to each."""
    signal_each(processes, signal.SIGKILL)
