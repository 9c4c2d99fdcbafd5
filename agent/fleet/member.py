"""A member that is no process: what it does is a function of its launch, its start, its stop order and the time.

So nothing is lost when the fleet is killed: started again, it finds every member where the time has brought it.
"""

import hashlib
import math
import signal
from datetime import datetime, timedelta

from msgspec import Struct

from agent.messages import ExitCause, ExitRecord, Launch, MemberReport, MemberState, StopOrder

RUNTIME_VARIABLE = "SIMULATED_RUNTIME_S"
EXIT_VARIABLE = "SIMULATED_EXIT_CODE"
"""In a job's environment: how long its simulation lasts, and with which code it ends."""
SHORTEST_S = 120
LONGEST_S = 5400
LINE_EVERY_S = 60
CHECKPOINT_EVERY_S = 600
LAST_CHECKPOINT_S = 4
"""What a member that is told to stop takes to write one, and to end."""


class Stop(Struct, frozen=True):
    """A stop order that was obeyed, and when it came."""

    cause: ExitCause
    signal: str
    grace_s: int
    at: datetime


class SimulatedMember(Struct):
    """``refused``: why the node would not start it. ``sent``: bytes of the log that the portal holds."""

    launch: Launch
    started_at: datetime
    stop: Stop | None = None
    refused: str = ""
    sent: int = 0

    def order_stop(self, order: StopOrder, now: datetime) -> bool:
        """Obey a stop order, once, unless it was meant for an earlier attempt. Whether anything changed."""
        if self.stop is not None or self.has_ended(now) or order.fencing < self.launch.fencing:
            return False
        cause: ExitCause = "timeout" if order.reason == "timeout" else "stopped"
        self.stop = Stop(cause, order.signal, order.grace_s, now)
        return True

    @property
    def _stopping(self) -> Stop | None:
        """The order that stops it: the portal's, or the node's own at the max runtime, whichever comes first."""
        limit = self.launch.max_runtime_s
        if limit is None:
            return self.stop
        at = self.started_at + timedelta(seconds=limit)
        if self.stop is not None and self.stop.at <= at:
            return self.stop
        return Stop("timeout", self.launch.signal, self.launch.grace_s, at)

    @property
    def ends_at(self) -> datetime:
        """When it ends, if nothing else is ordered."""
        if self.refused:
            return self.started_at
        done = self.started_at + timedelta(seconds=runtime_s(self.launch))
        stop = self._stopping
        if stop is None:
            return done
        return min(done, stop.at + timedelta(seconds=min(stop.grace_s, LAST_CHECKPOINT_S)))

    def has_ended(self, now: datetime) -> bool:
        """Whether it is over."""
        return now >= self.ends_at

    def next_change(self, now: datetime) -> datetime | None:
        """The next instant at which its state differs; None when it has ended."""
        if self.has_ended(now):
            return None
        stop = self._stopping
        return stop.at if stop is not None and now < stop.at < self.ends_at else self.ends_at

    def report(self, now: datetime) -> MemberReport:
        """What the node says of it."""
        stop = self._stopping
        is_stopping = stop is not None and stop.at <= now
        exit_ = self._exit() if self.has_ended(now) else None
        state: MemberState = "ended" if exit_ else "stopping" if is_stopping else "running"
        return MemberReport(
            member_id=self.launch.member_id,
            fencing=self.launch.fencing,
            state=state,
            started_at=None if self.refused else self.started_at,
            log_bytes=len(self.log(now)),
            newest_checkpoint_at=self._newest_checkpoint(now),
            exit=exit_,
            signalled_at=stop.at if stop is not None and is_stopping else None,
        )

    def _exit(self) -> ExitRecord:
        stop, ended = self._stopping, self.ends_at
        if self.refused:
            return ExitRecord("launch_failed", None, None, None, ended, self.refused)
        if stop is not None and stop.at < ended:
            number = int(getattr(signal, stop.signal, signal.SIGTERM))
            return ExitRecord(stop.cause, None, number, self.started_at, ended)
        return ExitRecord("finished", exit_code(self.launch), None, self.started_at, ended)

    def _newest_checkpoint(self, now: datetime) -> datetime | None:
        if not self.launch.checkpoint_dir or self.refused:
            return None
        stop = self._stopping
        if stop is not None and stop.at < self.ends_at <= now:
            return self.ends_at
        until = min(now, self.ends_at)
        count = (until - self.started_at) // timedelta(seconds=CHECKPOINT_EVERY_S)
        return self.started_at + timedelta(seconds=CHECKPOINT_EVERY_S * count) if count > 0 else None

    def log(self, now: datetime) -> bytes:
        """Everything it has written by now. What was written before stays as it was."""
        if self.refused:
            return f"[sluice] simulated: {self.refused}\n".encode()
        lines = ["simulated: no process runs; this log follows the clock"]
        lines.append(f"job {self.launch.job_id}, rank {self.launch.rank} of {self.launch.world_size}")
        until = min(now, self.ends_at)
        for step in range(1, int((until - self.started_at).total_seconds() // LINE_EVERY_S) + 1):
            lines.append(f"step {step * 100} loss {_loss(self.launch, step):.4f}")
        if self.has_ended(now):
            record = self._exit()
            how = f"signal {record.signal}" if record.exit_code is None else f"exit code {record.exit_code}"
            lines.append(f"simulated: ended by {record.cause}, {how}")
        return ("\n".join(lines) + "\n").encode()


def runtime_s(launch: Launch) -> int:
    """How long it would run: as its environment says, else drawn from its name."""
    said = launch.env.get(RUNTIME_VARIABLE, "")
    if said.isascii() and said.isdigit() and len(said) < 9:
        return int(said)
    return SHORTEST_S + int(_drawn(launch, "runtime") * (LONGEST_S - SHORTEST_S))


def exit_code(launch: Launch) -> int:
    """Its exit code: as its environment says, else 0."""
    said = launch.env.get(EXIT_VARIABLE, "")
    return int(said) if said.isascii() and said.isdigit() and int(said[:4]) < 256 else 0


def load(launch: Launch) -> float:
    """How much of its devices it keeps busy, drawn from its name: most use them well, a few hardly."""
    drawn = _drawn(launch, "load")
    return 0.06 if drawn < 0.05 else 0.45 + 0.55 * drawn


def _drawn(launch: Launch, purpose: str) -> float:
    """The same number in [0, 1) for the same job name, on whatever machine."""
    digest = hashlib.sha256(f"{purpose}/{launch.job_name}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def _loss(launch: Launch, step: int) -> float:
    return 1.2 + 6 * math.exp(-step / 40) + 0.05 * math.sin(step * (1 + _drawn(launch, "loss")))
