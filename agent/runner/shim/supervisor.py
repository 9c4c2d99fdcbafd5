"""Start one job, wait for it, stop it when told, and write down how it ended.

The shim alone decides when the job has ended: its first process is reaped and nothing that descends from it is
alive. It is a child subreaper, so that a process that detached itself comes back to it.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from agent.durable import reserve, write_durably, write_into_reserve
from agent.runner import cgroups, checkpoints, proctree
from agent.runner.shim import child
from agent.runner.shim.output import Output

TICK_S = 1.0
IDLE_S = 30.0
RESERVE_BYTES = 8192
BEING_WRITTEN_S = 5.0
MEMORY_GRACE_S = 10.0
SHUTDOWN_GRACE_S = 20.0
SCAN_S = 0.05
F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20


def _utc(at: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    return f"{whole}.{int(at % 1 * 1_000_000):06d}Z"


class Stop:
    """A stop under way: who it is for, the signal that was sent, and until when the job may go on."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.cause = str(order["cause"])
        self.message = str(order.get("message", ""))
        self.signal = int(getattr(signal, str(order["signal"]), signal.SIGTERM))
        self.grace_s = float(order["grace_s"])
        self.began = float(order["ordered_monotonic"])
        self.deadline = self.began + self.grace_s
        self.is_killing = False

    def shorten(self, order: dict[str, Any]) -> None:
        """A second order never lengthens the first: the earlier end holds."""
        deadline = float(order["ordered_monotonic"]) + float(order["grace_s"])
        if deadline < self.deadline:
            self.deadline = deadline
            self.grace_s = deadline - self.began

    def extend(self, now: float) -> bool:
        """More time while a checkpoint is being written, at most twice the grace in all."""
        last = self.began + 2 * self.grace_s
        if now >= last:
            return False
        self.deadline = min(last, now + BEING_WRITTEN_S)
        return True


class Supervisor:
    """One job from start to exit record."""

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self.folder = folder
        self.plan = plan
        self.output = Output(folder / "output.log", plan["log_cap_bytes"])
        self.group: cgroups.MemoryGroup | None = None
        self.leader = 0
        self.status: int | None = None
        self.stop: Stop | None = None
        self.was_stopped = False
        self.started_at: float | None = None
        self.runtime_deadline: float | None = None
        self.next_scan_at = 0.0
        self.next_memory_at = 0.0
        self.wake = -1

    def start(self) -> str:
        """Start the command. Returns what went wrong, or an empty text. Raises OSError."""
        reserve(self.folder / "exit.reserve", RESERVE_BYTES)
        if self.plan["memory_bytes"]:
            self.group = cgroups.make_memory_group(self.plan["group"], self.plan["memory_bytes"])
        pipes = child.Pipes()
        with contextlib.suppress(OSError):
            # Room to write on while the shim is busy; more than the user's share of pipe memory is refused.
            fcntl.fcntl(pipes.output_read, F_SETPIPE_SZ, PIPE_BYTES)
        if self.plan["uid"] is not None:
            # Else the job could not open /dev/stdout by name.
            os.fchown(pipes.output_write, self.plan["uid"], self.plan["gid"])
        self.leader = child.fork_job(self.plan, pipes)
        self.output.attach(pipes.output_read)
        self._join_group()
        self._record_start()
        if self._read_stop_order() is not None:
            os.close(pipes.gate_write)
            self._begin_stop()
            self.output.say("stopped before it started")
            return ""
        os.write(pipes.gate_write, child.GO)
        os.close(pipes.gate_write)
        return self._await_exec(pipes.error_read)

    def _join_group(self) -> None:
        """Where the group takes no process the watchdog counts instead."""
        if self.group is None:
            return
        try:
            self.group.join(self.leader)
        except OSError:
            self.group.remove()
            self.group = None

    def _record_start(self) -> None:
        """The line that is crossed once: after it the key counts as started, whatever happens."""
        own, leader = proctree.read_process(os.getpid()), proctree.read_process(self.leader)
        if own is None or leader is None:
            raise ProcessLookupError(3, "the job's first process went away")
        self.started_at = time.time()
        if self.plan["max_runtime_s"] is not None:
            self.runtime_deadline = time.monotonic() + self.plan["max_runtime_s"]
        record = {
            "pid": leader.pid,
            "start_ticks": leader.start_ticks,
            "shim_pid": own.pid,
            "shim_ticks": own.start_ticks,
            "machine_boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            "started_at": _utc(self.started_at),
            "group": str(self.group.path) if self.group is not None else "",
        }
        write_durably(self.folder / "started.json", json.dumps(record).encode())

    @staticmethod
    def _await_exec(error_read: int) -> str:
        """End of file means that exec worked: the descriptor closes with it."""
        text = b""
        while part := os.read(error_read, child.MAX_EXPLANATION):
            text += part
        os.close(error_read)
        return text.decode(errors="replace")

    def run(self) -> None:
        """Wait until nothing of the job is alive."""
        while True:
            poll = select.poll()
            poll.register(self.wake, select.POLLIN)
            self.output.register(poll)
            poll.poll(self._wait_s() * 1000)
            self.output.move()
            self._reap()
            self._take_signals()
            self._check_limits()
            if self._is_over():
                return

    def _wait_s(self) -> float:
        if self.stop is not None or self.status is not None:
            return TICK_S / 5
        wait = TICK_S if self.plan["memory_bytes"] else IDLE_S
        if self.runtime_deadline is not None:
            wait = min(wait, max(0.0, self.runtime_deadline - time.monotonic()) + 0.01)
        return wait

    def _take_signals(self) -> None:
        try:
            numbers = os.read(self.wake, 512)
        except BlockingIOError:
            return
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._stop_for("node_shutdown", min(self.plan["grace_s"], SHUTDOWN_GRACE_S))
        if signal.SIGUSR1 in numbers:
            self._begin_stop()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.next_scan_at = 0.0
            if pid == self.leader:
                self.status = status
                self.was_stopped = self.stop is not None

    def _check_limits(self) -> None:
        now = time.monotonic()
        if self.stop is not None or self.status is not None:
            return
        if self.runtime_deadline is not None and now >= self.runtime_deadline:
            self._stop_for("timeout", self.plan["grace_s"], f"maximum run time {self.plan['max_runtime_s']} s")
        elif self.plan["memory_bytes"] and now >= self.next_memory_at:
            self.next_memory_at = now + TICK_S
            text = self._memory_problem(self.plan["memory_bytes"])
            if text:
                self.output.say(text)
                self._stop_for("finished", min(self.plan["grace_s"], MEMORY_GRACE_S), text)

    def _memory_problem(self, limit: int) -> str:
        """What to say about memory, or an empty text. A job that lost one process to the limit ends whole."""
        if self.group is not None:
            return f"memory limit exceeded: killed at {limit} bytes" if self.group.oom_kills() else ""
        tree = proctree.descendants(os.getpid())
        if proctree.resident_bytes(tree) <= limit:
            return ""
        used = proctree.proportional_bytes(tree)
        return f"memory limit exceeded: {used} bytes used, limit {limit} bytes" if used > limit else ""

    def _stop_for(self, cause: str, grace_s: float, message: str = "") -> None:
        """A stop of the shim's own. The order is not persisted: the shim carries it to its end itself."""
        order = {"cause": cause, "signal": self.plan["signal"], "grace_s": grace_s, "message": message}
        self._apply({**order, "ordered_monotonic": time.monotonic()})

    def _read_stop_order(self) -> dict[str, Any] | None:
        try:
            order: dict[str, Any] = json.loads((self.folder / "stop.json").read_bytes())
        except FileNotFoundError:
            return None
        return order

    def _begin_stop(self) -> None:
        order = self._read_stop_order()
        if order is not None:
            self._apply(order)

    def _apply(self, order: dict[str, Any]) -> None:
        if self.stop is not None:
            self.stop.shorten(order)
            return
        self.stop = Stop(order)
        # A process forked between reading /proc and the signal is caught by the second look.
        signalled: set[int] = set()
        for _ in range(3):
            fresh = [p for p in proctree.descendants(os.getpid()) if p.pid not in signalled]
            proctree.signal_each(fresh, self.stop.signal)
            signalled.update(process.pid for process in fresh)
            if not fresh:
                break

    def _is_over(self) -> bool:
        """Whether all is gone; sends SIGKILL to what must go now."""
        now = time.monotonic()
        if (self.status is None and self.stop is None) or now < self.next_scan_at:
            return False
        self.next_scan_at = now + SCAN_S
        alive = proctree.descendants(os.getpid())
        if not alive and self.status is not None:
            return True
        if self.stop is None or self._is_grace_over(self.stop):
            proctree.kill_each(alive)
        return False

    def _is_grace_over(self, stop: Stop) -> bool:
        now = time.monotonic()
        if stop.is_killing:
            return True
        if now < stop.deadline:
            return False
        stop.is_killing = not (self._is_writing_checkpoint() and stop.extend(now))
        return stop.is_killing

    def _is_writing_checkpoint(self) -> bool:
        if not self.plan["checkpoint_dir"]:
            return False
        latest = checkpoints.newest(Path(self.plan["checkpoint_dir"]), with_unfinished=True)
        return latest is not None and time.time() - latest < BEING_WRITTEN_S

    def exit_record(self) -> dict[str, Any]:
        """The record of a command that was seen to end."""
        status = self.status or 0
        is_signal = os.WIFSIGNALED(status)
        message = self.stop.message if self.stop is not None else ""
        if not message and self.group is not None:
            message = self._memory_problem(self.plan["memory_bytes"])
            if message:
                self.output.say(message)
        return {
            "cause": self.stop.cause if self.stop is not None and self.was_stopped else "finished",
            "exit_code": None if is_signal else os.waitstatus_to_exitcode(status),
            "signal": os.WTERMSIG(status) if is_signal else None,
            "started_at": _utc(self.started_at) if self.started_at is not None else None,
            "ended_at": _utc(time.time()),
            "message": message,
        }

    def finish(self, record: dict[str, Any]) -> None:
        """Log durable, then the exit record, tried until the disk takes it."""
        self.output.close()
        if self.group is not None:
            self.group.remove()
        while True:
            try:
                write_into_reserve(self.folder / "exit.reserve", self.folder / "exit.json", json.dumps(record).encode())
            except OSError as error:
                sys.stderr.write(f"exit record: {error}\n")
                time.sleep(TICK_S)
            else:
                return


def _failure(message: str) -> dict[str, Any]:
    ended_at = _utc(time.time())
    record: dict[str, Any] = dict.fromkeys(("exit_code", "signal", "started_at"))
    return {**record, "cause": "launch_failed", "ended_at": ended_at, "message": message}


def _catch_signals() -> int:
    """Signals become bytes in a pipe that the main loop polls. Returns the end to read."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return read_end


def main(folder: Path, lock: int, ready: int) -> int:
    """Run the job of ``folder`` once. The lock came locked from the agent and is held until this process ends."""
    os.set_inheritable(lock, False)
    os.set_inheritable(ready, False)
    wake = _catch_signals()
    if (folder / "started.json").exists() or (folder / "exit.json").exists():
        return 0
    child.prctl(child.PR_SET_CHILD_SUBREAPER, 1)
    plan = json.loads((folder / "launch.json").read_bytes())["plan"]
    supervisor = Supervisor(folder, plan)
    supervisor.wake = wake
    try:
        problem = supervisor.start()
    except OSError as error:
        problem = f"cannot start: {error.strerror or error}"
    with contextlib.suppress(BrokenPipeError):
        os.write(ready, b"F" if problem else b"R")
    os.close(ready)
    if problem:
        supervisor.output.say(problem)
        proctree.kill_each(proctree.descendants(os.getpid()))
    if supervisor.leader:
        supervisor.run()
    supervisor.finish(_failure(problem) if problem else supervisor.exit_record())
    return 0
