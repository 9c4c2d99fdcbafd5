"""From fork to exec: everything the job's first process sets up about itself.

The child waits at a gate until its start record is on disk. A shim that dies before leaves a child that reads
end of file and goes, so no start record means that the command never ran.
"""

import ctypes
import errno
import os
import resource
import signal
from pathlib import Path
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
OPEN_FILES = 65_536
PROCESSES = 65_536
SHARE_OF_PROCESSES = 4
OOM_SCORE = "500"
GO = b"g"
MAX_EXPLANATION = 4000

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """One option of prctl(2). Raises OSError."""
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Pipes:
    """What the shim keeps of a child: the gate to open, the error to read, the output to collect."""

    def __init__(self) -> None:
        self.gate_read, self.gate_write = os.pipe()
        self.error_read, self.error_write = os.pipe()
        self.output_read, self.output_write = os.pipe()

    def keep_parent_ends(self) -> None:
        """Close what belongs to the child."""
        for descriptor in (self.gate_read, self.error_write, self.output_write):
            os.close(descriptor)

    def keep_child_ends(self) -> None:
        """Close what belongs to the shim: above all the gate's other end, or end of file never comes."""
        for descriptor in (self.gate_write, self.error_read, self.output_read):
            os.close(descriptor)


def fork_job(plan: dict[str, Any], pipes: Pipes) -> int:
    """Fork the job's first process; it waits at the gate in its own session. Returns its pid."""
    pid = os.fork()
    if pid:
        pipes.keep_parent_ends()
        return pid
    try:
        pipes.keep_child_ends()
        _become_job(plan, pipes)
    except Exception as error:  # noqa: BLE001 - the process ends here, and what happened must be told
        os.write(pipes.error_write, _explain(plan, error).encode(errors="replace")[:MAX_EXPLANATION])
    finally:
        os._exit(127)


def _become_job(plan: dict[str, Any], pipes: Pipes) -> NoReturn:
    signal.set_wakeup_fd(-1)
    os.setsid()
    if os.read(pipes.gate_read, 1) != GO:
        os._exit(127)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(pipes.output_write, 1)
    os.dup2(pipes.output_write, 2)
    _set_limits(plan)
    os.umask(0o022)
    os.chdir(plan["work"])
    if plan["uid"] is not None:
        os.setgroups([])
        os.setresgid(plan["gid"], plan["gid"], plan["gid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _default_signals()
    os.execvpe(plan["command"][0], plan["command"], plan["env"])  # noqa: S606 - the command is the job


def _set_limits(plan: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if plan["uid"] is not None:
        # Counted by user, and this user is the job's alone: the node keeps process numbers for its other jobs and us.
        most = min(PROCESSES, _kernel_processes() // SHARE_OF_PROCESSES)
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        processes = most if hard == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    if plan["cpu_ids"]:
        os.sched_setaffinity(0, plan["cpu_ids"])
    # When memory runs out the kernel takes the job, not the shim or the agent.
    Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)


def _kernel_processes() -> int:
    """How many processes and threads this machine can have at all."""
    return min(int(Path(f"/proc/sys/kernel/{name}").read_text()) for name in ("pid_max", "threads-max"))


def _default_signals() -> None:
    """Handlers end with exec, ignored signals and the mask would not."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _explain(plan: dict[str, Any], error: Exception) -> str:
    name = plan["command"][0]
    if not isinstance(error, OSError):
        return f"cannot start {name}: {error}"
    if error.filename == plan["work"]:
        return f"cannot enter the job's folder: {error.strerror}"
    match error.errno:
        case errno.ENOENT:
            return f"command not found: {name} (the program, or the interpreter its first line names)"
        case errno.EACCES | errno.EPERM:
            return f"permission denied: {name}"
        case errno.ENOEXEC:
            return f"not an executable program: {name} (a script needs a first line like #!/bin/sh)"
        case _:
            return f"cannot start {name}: {error.strerror or error}"
