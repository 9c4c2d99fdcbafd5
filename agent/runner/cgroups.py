"""Memory limit of one job by a control group, v2 or v1, where the agent may make one.

The groups lie outside the agent's own, so that a service manager that clears the agent's group leaves the jobs
alone. Standard library only: the shim of a job imports it without site-packages.
"""

import contextlib
import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PARENT = "sluice"


class MemoryGroup:
    """A group that exists. Everything the job forks stays in it."""

    def __init__(self, path: Path, *, is_v2: bool) -> None:
        self.path = path
        self.is_v2 = is_v2

    def join(self, pid: int) -> None:
        """Put a process into the group. Raises OSError."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def pids(self) -> list[int]:
        """Processes in the group now; empty when the group is gone."""
        try:
            return [int(line) for line in (self.path / "cgroup.procs").read_text().split()]
        except OSError:
            return []

    def oom_kills(self) -> int:
        """How many processes the kernel killed for the limit."""
        name = "memory.events" if self.is_v2 else "memory.oom_control"
        try:
            lines = (self.path / name).read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

    def remove(self) -> None:
        """Delete the group; one that still holds a process stays."""
        with contextlib.suppress(OSError):
            self.path.rmdir()


def make_memory_group(name: str, limit_bytes: int) -> MemoryGroup | None:
    """A group with that limit, or None where the node does not let us: then a watchdog counts instead."""
    if os.geteuid() != 0:
        return None
    is_v2 = (ROOT / "cgroup.controllers").exists()
    base = (ROOT if is_v2 else ROOT / "memory") / PARENT
    limits = (("memory.max", limit_bytes), ("memory.swap.max", 0)) if is_v2 else ()
    limits = limits or (("memory.limit_in_bytes", limit_bytes), ("memory.memsw.limit_in_bytes", limit_bytes))
    if not is_v2 and not (ROOT / "memory" / "memory.limit_in_bytes").exists():
        return None
    group = MemoryGroup(base / name, is_v2=is_v2)
    try:
        base.mkdir(exist_ok=True)
        if is_v2:
            (base / "cgroup.subtree_control").write_text("+memory")
        group.path.mkdir(exist_ok=True)
        (group.path / limits[0][0]).write_text(str(limits[0][1]))
    except OSError:
        group.remove()
        return None
    # No swap accounting on this kernel: the limit on memory itself holds all the same.
    with contextlib.suppress(OSError):
        (group.path / limits[1][0]).write_text(str(limits[1][1]))
    return group
