"""The exchange that everything hangs on: say what is here, do what the reply says, as often as it takes."""

import logging
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from agent import __version__
from agent.backoff import Backoff
from agent.errors import PortalProblem
from agent.messages import PROTOCOL, Hardware, Sync, SyncReply
from agent.portal import Portal
from agent.runner.members import Members
from agent.settings import fits

log = logging.getLogger(__name__)

STARTERS = 4
SHORTEST_INTERVAL_S = 1.0
LONGEST_INTERVAL_S = 60.0


class Starter:
    """Fetches launches and starts them, each member by one thread at a time."""

    def __init__(self, portal: Portal, members: Members, hardware: Callable[[], Hardware]) -> None:
        self._portal = portal
        self._members = members
        self._hardware = hardware
        self._pool = ThreadPoolExecutor(STARTERS, thread_name_prefix="start")
        self._queued: set[int] = set()
        self._busy: set[int] = set()
        self._lock = threading.Lock()
        self.is_closed = False

    def start_soon(self, member_id: int) -> None:
        """Start in the background, unless it is here or on its way."""
        with self._lock:
            if self.is_closed or member_id in self._queued or self._members.has(member_id):
                return
            self._queued.add(member_id)
        self._pool.submit(self._start_queued, member_id)

    def _start_queued(self, member_id: int) -> None:
        with self._lock:
            self._queued.discard(member_id)
        self.start(member_id)

    def start(self, member_id: int) -> None:
        """Fetch and start now. What fails is tried again with the next sync."""
        with self._lock:
            if self.is_closed or member_id in self._busy or self._members.has(member_id):
                return
            self._busy.add(member_id)
        try:
            launch = self._portal.launch(member_id)
            if launch is None:
                self._members.abandon(member_id)
            else:
                self._members.start(launch, self._hardware().devices)
        except PortalProblem as problem:
            log.warning("member %s: launch not fetched: %s", member_id, problem)
        except Exception:  # the edge of this thread
            log.exception("member %s: start", member_id)
        finally:
            with self._lock:
                self._busy.discard(member_id)


class SyncLoop:
    """Syncs at the interval the portal asks for, and at once when something changed here."""

    def __init__(self, portal: Portal, members: Members, starter: Starter, hardware: Callable[[], Hardware]) -> None:
        self._portal = portal
        self._members = members
        self._starter = starter
        self._hardware = hardware
        self._due = threading.Event()
        self._backoff = Backoff()
        self._sequence = 0
        self._has_refused_token = False
        self.boot_id = uuid.uuid4().hex
        self.interval_s = 5.0
        self.sample_interval_s = 10.0
        self.is_leaving = False
        self.acknowledged = 0
        """Members that had ended in the last message the portal took."""

    def request(self) -> None:
        """Sync at once, or as soon as the wait after a failure is over."""
        self._due.set()

    def run(self, leaving: threading.Event) -> None:
        """Sync until the agent leaves."""
        while not leaving.is_set():
            self._due.clear()
            delay = self.once()
            if delay is None:
                self._due.wait(self.interval_s)
            else:
                leaving.wait(delay)

    def once(self) -> float | None:
        """One exchange. Returns how long to keep still after a failure."""
        message = self.message()
        try:
            reply = self._portal.sync(message)
        except PortalProblem as problem:
            return self._failed(problem)
        if self._backoff.failures:
            log.info("portal reached again")
        self._backoff.succeeded()
        self._has_refused_token = False
        self.acknowledged = sum(member.exit is not None for member in message.members)
        self.apply(reply)
        return None

    def _failed(self, problem: PortalProblem) -> float:
        if problem.status == 401 and not self._has_refused_token:
            self._has_refused_token = True
            log.error("%s: enrol the node again; running jobs go on", problem)
        elif self._backoff.failures == 0:
            log.warning("sync: %s", problem)
        return self._backoff.failed()

    def message(self) -> Sync:
        """All that the node holds now."""
        self._sequence += 1
        return Sync(
            protocol=PROTOCOL,
            boot_id=self.boot_id,
            sequence=self._sequence,
            sent_at=datetime.now(UTC),
            agent_version=__version__,
            hardware=self._hardware(),
            members=self._members.reports(),
            is_leaving=self.is_leaving,
        )

    def apply(self, reply: SyncReply) -> None:
        """Do what the reply says. Doing it twice changes nothing."""
        self.interval_s = fits(reply.sync_interval_s, SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S)
        self.sample_interval_s = fits(reply.sample_interval_s, SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S)
        for order in reply.stop:
            self._members.stop(order)
        for member_id in reply.forget:
            self._members.forget(member_id)
        stopped = {order.member_id for order in reply.stop}
        for member_id in {*reply.run, *self._members.unstarted()} - stopped:
            self._starter.start_soon(member_id)
