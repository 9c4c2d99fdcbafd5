"""Takes samples at the interval, posts them once a minute, and every time while something is new."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import json

from agent.backoff import Backoff
from agent.collector.batch import Row, make_batch
from agent.collector.devices import DeviceSource
from agent.collector.host import HostSampler
from agent.collector.spool import Spool
from agent.errors import PortalProblem
from agent.portal import Portal
from agent.runner.members import Members

log = logging.getLogger(__name__)

BATCH_S = 60.0
NEWS_S = 60.0
"""So long after a start every sample is posted by itself: someone is watching."""
POISON = frozenset({400, 413, 415, 422})
PAUSE_S = 0.05
STEP_S = 1.0


class Sampler:
    """The loop that looks. Posting is another thread's: a slow portal never delays a sample."""

    def __init__(
        self, source: DeviceSource, host: HostSampler, members: Members, keep: Callable[[list[Row]], None]
    ) -> None:
        self._source = source
        self._host = host
        self._members = members
        self._keep = keep
        self._rows: list[Row] = []
        self._batch_began = self._began = time.monotonic()
        self.interval_s = 10.0

    def run(self, leaving: threading.Event) -> None:
        """Sample until the agent leaves."""
        while not leaving.is_set():
            began = time.monotonic()
            self.once()
            # After a look longer than an interval the missed samples are a gap, not a burst. The interval may
            # change while we wait: it comes with every sync.
            while not leaving.is_set() and (left := began + self.interval_s - time.monotonic()) > 0:
                leaving.wait(min(left, STEP_S))
        self.flush()

    def once(self) -> None:
        """One row; handed on when the minute is full or something is new."""
        at = datetime.now(UTC)
        devices = self._source.sample(self._members.held())
        self._rows.append(Row(at, devices, self._host.sample()))
        now = time.monotonic()
        newest = max(self._began, self._members.last_start)
        if now - newest < NEWS_S or now - self._batch_began >= BATCH_S - self.interval_s / 2:
            self.flush()

    def flush(self) -> None:
        """Hand on what there is."""
        if self._rows:
            self._keep(self._rows)
        self._rows = []
        self._batch_began = time.monotonic()


class Poster:
    """Sends spooled batches, oldest first."""

    def __init__(self, portal: Portal, spool: Spool, boot_id: str, *, is_simulated: bool) -> None:
        self._portal = portal
        self._spool = spool
        self._boot_id = boot_id
        self._is_simulated = is_simulated
        self._due = threading.Event()
        self._backoff = Backoff()

    def keep(self, rows: list[Row]) -> None:
        """Put a batch on the spool and send it soon."""
        self._spool.put(json.encode(make_batch(rows, self._boot_id, is_simulated=self._is_simulated)))
        self._due.set()

    def run(self, leaving: threading.Event) -> None:
        """Send until the agent leaves."""
        while not leaving.is_set():
            self._due.clear()
            delay = self.once()
            if delay is None:
                self._due.wait(BATCH_S)
            else:
                leaving.wait(delay)

    def once(self) -> float | None:
        """Send the oldest batch. Returns how long to wait before the next, None when the spool is empty."""
        waiting = self._spool.oldest()
        if waiting is None:
            return None
        path, batch = waiting
        try:
            self._portal.send_samples(batch)
        except PortalProblem as problem:
            if problem.status in POISON:
                log.warning("samples refused and dropped: %s", problem)
            else:
                return self._backoff.failed()
        self._backoff.succeeded()
        self._spool.remove(path)
        return PAUSE_S
