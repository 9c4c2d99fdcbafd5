"""Start a shim, so that it lives on without the agent."""

import os
import select
import subprocess
import sys
from pathlib import Path

from agent.runner.folders import MemberFolder

START = Path(__file__).parent / "shim" / "start.py"
READY_S = 15.0
SHIM_LOG_TAIL = 500


def spawn_shim(folder: MemberFolder, lock: int) -> subprocess.Popen[bytes]:
    """Start the shim of this folder and wait until its command runs or has failed to.

    ``lock`` is the folder's lock, taken; the shim inherits it, this process closes it. Raises OSError.
    """
    ready, ready_write = os.pipe()
    try:
        with folder.shim_log.open("ab") as notes:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(START), str(folder.path), str(lock), str(ready_write)],
                stdin=subprocess.DEVNULL,
                stdout=notes,
                stderr=notes,
                cwd="/",
                env={},
                # A session of its own: Ctrl-C on the agent's terminal is not for the jobs.
                start_new_session=True,
                pass_fds=(lock, ready_write),
            )
        os.close(ready_write)
        ready_write = -1
        select.select([ready], [], [], READY_S)
    finally:
        os.close(ready)
        if ready_write >= 0:
            os.close(ready_write)
    return process


def shim_trouble(folder: MemberFolder) -> str:
    """The last words of a shim that went away before it had started anything."""
    try:
        text = folder.shim_log.read_text(errors="replace")
    except FileNotFoundError:
        return "no message"
    return " ".join(text[-SHIM_LOG_TAIL:].split()) or "no message"
