"""The agent put together: threads, their order of start, and how it leaves."""

import logging
import threading
import time
from collections.abc import Callable

from agent.celery_app import WakeWorker, make_app
from agent.collector.devices import DeviceSource
from agent.collector.host import HostSampler
from agent.collector.nvml import NvmlDevices
from agent.collector.sampler import Poster, Sampler
from agent.collector.simulated import SimulatedDevices
from agent.collector.spool import Spool
from agent.enrolment import enrolled_node
from agent.errors import AgentError
from agent.hardware import describe, pinnable_cpus
from agent.home import Home, Inventory
from agent.logs import LogShipper
from agent.messages import DeviceReport, Enrolled, Hardware
from agent.portal import Portal
from agent.runner.members import Members
from agent.runner.plan import Node
from agent.settings import Settings
from agent.sync import Starter, SyncLoop

log = logging.getLogger(__name__)

SHUTDOWN_GRACE_S = 20
JOBS_END_S = 30.0
"""A checkpoint that is being written may take longer: its shim sees to it, and the next agent reports it."""
LAST_WORDS_S = 8.0
POLL_S = 0.1


def device_source(settings: Settings, home: Home) -> DeviceSource:
    """Simulated devices when asked for, else what NVML shows."""
    if settings.simulation is not None:
        return SimulatedDevices(settings.simulation, home.tag)

    def remember(reports: tuple[DeviceReport, ...]) -> None:
        rows = tuple((r.uuid, r.index, r.gpu_model, r.memory_bytes) for r in reports)
        if home.read_inventory().devices != rows:
            home.write_inventory(Inventory(rows))

    known = tuple(DeviceReport(*row, is_simulated=False) for row in home.read_inventory().devices)
    return NvmlDevices(known, remember)


class Agent:
    """One agent from start to leave. ``leave`` may be called from a signal handler."""

    def __init__(self, settings: Settings, home: Home) -> None:
        self._settings = settings
        self._home = home
        self._asked_to_leave = threading.Event()
        self._leaving = threading.Event()
        self._threads: list[threading.Thread] = []
        self._fatal: str | None = None
        self.source = device_source(settings, home)

    def leave(self) -> None:
        """Ask the agent to end; the second call ends it without last words."""
        if self._asked_to_leave.is_set():
            self._leaving.set()
        self._asked_to_leave.set()

    def _hardware(self) -> Hardware:
        return describe(self._settings, self._home, self.source)

    def run(self) -> None:
        """Run until told to leave. Raises AgentError."""
        try:
            self.source.refresh()
            enrolled = enrolled_node(self._settings, self._home, self._hardware(), self._asked_to_leave)
            self._serve(enrolled)
        finally:
            self._leaving.set()
            for thread in self._threads:
                thread.join(timeout=0.5)
            self.source.close()
            self._home.leave_no_empty_folder()

    def _serve(self, enrolled: Enrolled) -> None:
        settings, home = self._settings, self._home
        home.empty_trash()
        portal = Portal(settings.portal_url, enrolled.token)
        node = Node(enrolled.node_id, home.tag, settings.log_cap_bytes, pinnable_cpus(settings))
        members = Members(home, node, lambda: sync.request())
        starter = Starter(portal, members, self._hardware)
        sync = SyncLoop(portal, members, starter, self._hardware)
        members.adopt()
        logs = LogShipper(portal, members)
        poster = Poster(
            portal,
            Spool(home.spool, settings.spool_cap_bytes),
            sync.boot_id,
            is_simulated=settings.simulation is not None,
        )
        sampler = Sampler(self.source, HostSampler(home.path), members, poster.keep)

        def watch(leaving: threading.Event) -> None:
            while not leaving.is_set():
                members.watch_once()
                sampler.interval_s = sync.sample_interval_s

        for name, loop in (
            ("sync", sync.run),
            ("watch", watch),
            ("logs", logs.run),
            ("samples", sampler.run),
            ("post", poster.run),
        ):
            self._spawn(name, loop)
        self._start_wakes(enrolled, members, starter, sync)
        log.info("node %s (%s) serves %s", enrolled.node_id, enrolled.node_name, settings.portal_url)
        self._asked_to_leave.wait()
        starter.is_closed = True
        if self._fatal is not None:
            raise AgentError(self._fatal)
        if settings.is_stopping_jobs_on_exit:
            self._stop_jobs(members, sync, logs)

    def _spawn(self, name: str, loop: Callable[[threading.Event], None]) -> None:
        def guarded() -> None:
            try:
                loop(self._leaving)
            except Exception as error:  # the edge of a thread: without it the agent would be half an agent
                log.exception("thread %s", name)
                self._fatal = f"thread {name} ended: {error}"
                self._asked_to_leave.set()

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _start_wakes(self, enrolled: Enrolled, members: Members, starter: Starter, sync: SyncLoop) -> None:
        if not self._settings.broker_url:
            log.warning("no broker: jobs start at the next sync")
            return

        def on_wake(member_id: int) -> None:
            if not members.has(member_id):
                starter.start(member_id)
            sync.request()

        WakeWorker(make_app(self._settings.broker_url, enrolled.queue, on_wake), self._leaving).start()

    def _stop_jobs(self, members: Members, sync: SyncLoop, logs: LogShipper) -> None:
        """Stop every job, then give the portal a bounded time to take exits and output."""
        log.info("leaving: %d jobs are stopped", members.alive())
        sync.is_leaving = True
        members.stop_all("node_shutdown", SHUTDOWN_GRACE_S)
        sync.request()
        until = time.monotonic() + JOBS_END_S
        while members.alive() and time.monotonic() < until and not self._leaving.is_set():
            self._leaving.wait(POLL_S)
        until = time.monotonic() + LAST_WORDS_S
        ended = len(members.logs())
        sync.request()
        while time.monotonic() < until and not self._leaving.is_set():
            if sync.acknowledged >= ended and logs.is_done():
                break
            self._leaving.wait(POLL_S)
        log.info("left with %d jobs alive", members.alive())
