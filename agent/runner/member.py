"""One attempt member on this node, as its folder tells it."""

import contextlib
import os
import select
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from agent.messages import ExitRecord, Launch, MemberReport, MemberState
from agent.runner import checkpoints, proctree
from agent.runner.folders import MemberFolder
from agent.runner.records import LaunchFile, Plan, Started, StopFile
from agent.runner.spawn import shim_trouble

MAX_TRIES = 3
BURY_ROUNDS = 20
BURY_PAUSE_S = 0.02
HUNG_SHIM_S = 60.0
REAP_S = 5.0


def machine_boot_id() -> str:
    """Identity of this run of the machine: pids of another one mean nothing."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def failed_record(message: str) -> ExitRecord:
    """The record of a command that never ran."""
    return ExitRecord("launch_failed", None, None, None, datetime.now(UTC), message)


class Member:
    """What the agent knows of one member. Not safe for threads by itself: the registry holds its lock."""

    def __init__(self, folder: MemberFolder, launch: Launch) -> None:
        self.folder = folder
        self.launch = launch
        self.plan: Plan | None = None
        self.started: Started | None = None
        self.stop: StopFile | None = None
        self.exit: ExitRecord | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.pidfd: int | None = None
        self.is_launching = False
        self.tries = 0
        self.newest_checkpoint_at: datetime | None = None

    @property
    def state(self) -> MemberState:
        """What is reported."""
        if self.exit is not None:
            return "ended"
        if self.stop is not None:
            return "stopping"
        return "running" if self.started is not None else "starting"

    @property
    def is_unstarted(self) -> bool:
        """Wanted once, and certainly never run: it may be started if it is still wanted."""
        return self.exit is None and not self.is_launching and self.started is None and self.pidfd is None

    def load(self) -> None:
        """Read every record again. Idempotent."""
        file: LaunchFile | None = self.folder.launch()
        self.plan = file.plan if file is not None else None
        self.started = self.started or self.folder.started()
        self.stop = self.stop or self.folder.stop()
        self.exit = self.exit or self.folder.exit()

    def look(self) -> None:
        """Bring this in line with the folder, and settle what a dead shim left. Raises OSError."""
        if self.exit is not None or self.is_launching:
            return
        is_locked = self.folder.is_locked()
        # The record is written before the lock is let go, so it is read after the look at the lock.
        self.load()
        if is_locked and self.exit is None:
            self._watch()
            self._end_hung_shim()
        else:
            self._unwatch()
            self._settle()

    def _settle(self) -> None:
        """No shim lives: the member has ended, or is made to, or has never run."""
        if self.exit is None and self.started is not None:
            self._bury(self.started)
        elif self.exit is None:
            self._give_up_or_wait()
        if self.exit is not None:
            self.scan_checkpoints()

    def _watch(self) -> None:
        if self.pidfd is not None and select.select([self.pidfd], [], [], 0)[0]:
            # Gone, and yet the lock is held: a look once a second must do.
            os.close(self.pidfd)
            self.pidfd = None
        if self.pidfd is not None or self.started is None:
            return
        if proctree.is_alive(self.started.shim_pid, self.started.shim_ticks):
            with contextlib.suppress(OSError):
                self.pidfd = os.pidfd_open(self.started.shim_pid)

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Watch a shim that this agent has started."""
        self.process = process
        with contextlib.suppress(OSError):
            self.pidfd = os.pidfd_open(process.pid)

    def _unwatch(self) -> None:
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(REAP_S)
            self.process = None

    def _bury(self, started: Started) -> None:
        """The shim was killed: end what it left, and say ``lost`` only when nothing of it is alive."""
        message = "the process that watched this job was killed"
        if started.machine_boot_id != machine_boot_id():
            message = "the node restarted"
        else:
            for _ in range(BURY_ROUNDS):
                left = self._orphans(started)
                if not left:
                    break
                proctree.kill_each(left)
                time.sleep(BURY_PAUSE_S)
            else:
                return
        if started.group:
            with contextlib.suppress(OSError):
                Path(started.group).rmdir()
        self._end(ExitRecord("lost", None, None, started.started_at, datetime.now(UTC), message))

    def _orphans(self, started: Started) -> list[proctree.ProcessInfo]:
        left = proctree.orphans(started.pid, started.start_ticks, self.launch.launch_key)
        known = {process.pid for process in left}
        if started.group:
            with contextlib.suppress(OSError):
                pids = (Path(started.group) / "cgroup.procs").read_text().split()
                found = (proctree.read_process(int(pid)) for pid in pids if int(pid) not in known)
                left += [process for process in found if process is not None and process.state not in "ZX"]
        return left

    def _give_up_or_wait(self) -> None:
        """No lock, no start record: it never ran. Stopped meanwhile, or beyond help after some tries?"""
        if self.stop is not None:
            now = datetime.now(UTC)
            self._end(ExitRecord(self.stop.cause, None, None, None, now, "stopped before it started"))
        elif self.tries >= MAX_TRIES:
            self._end(failed_record(f"the job's shim did not start: {shim_trouble(self.folder)}"))

    def _end(self, record: ExitRecord) -> None:
        self.folder.write_exit(record)
        self.exit = self.folder.exit() or record

    def _end_hung_shim(self) -> None:
        """Backstop: a shim that is long past the longest grace is killed, and then buried."""
        if self.stop is None or self.started is None or self.started.machine_boot_id != machine_boot_id():
            return
        last = self.stop.ordered_monotonic + 2 * self.stop.grace_s + HUNG_SHIM_S
        if time.monotonic() > last:
            self._signal_shim(signal.SIGKILL)

    def _signal_shim(self, number: int) -> None:
        if self.started is not None and proctree.is_alive(self.started.shim_pid, self.started.shim_ticks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.started.shim_pid, number)

    def order_stop(self, order: StopFile) -> None:
        """Persist the order, then tell the shim. A repeated order changes nothing; an earlier end counts.

        A shim that has not written its start record reads the order itself right after it. Raises OSError.
        """
        if self.exit is not None:
            return
        if self.stop is not None:
            held = self.stop
            if order.ordered_monotonic + order.grace_s >= held.ordered_monotonic + held.grace_s:
                self.remind()
                return
            grace_s = max(0, int(order.ordered_monotonic + order.grace_s - held.ordered_monotonic))
            order = StopFile(held.cause, held.signal, grace_s, held.ordered_monotonic, held.message, held.ordered_at)
        self.folder.write_stop(order)
        self.stop = order
        self.started = self.started or self.folder.started()
        self.remind()

    def remind(self) -> None:
        """Have the shim read the stop order, if there is one; it may have been written by an agent that died."""
        if self.stop is not None and self.exit is None:
            self._signal_shim(signal.SIGUSR1)

    def scan_checkpoints(self) -> None:
        """Look for the newest checkpoint, if the job declares a folder for them."""
        if self.plan is None or not self.plan.checkpoint_dir:
            return
        at = checkpoints.newest(Path(self.plan.checkpoint_dir))
        if at is not None and at >= 0:
            self.newest_checkpoint_at = datetime.fromtimestamp(at, UTC)

    def report(self) -> MemberReport:
        """What a Sync says of this member."""
        started_at = self.exit.started_at if self.exit is not None else None
        if started_at is None and self.started is not None:
            started_at = self.started.started_at
        return MemberReport(
            member_id=self.launch.member_id,
            fencing=self.launch.fencing,
            state=self.state,
            started_at=started_at,
            log_bytes=self.folder.log_bytes(),
            newest_checkpoint_at=self.newest_checkpoint_at,
            exit=self.exit,
            signalled_at=self.stop.ordered_at if self.stop is not None else None,
        )
