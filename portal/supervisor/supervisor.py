"""Starts children in order, keeps them up, and stops them in reverse order."""

import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say
from portal.supervisor.children import Child, Service
from portal.supervisor.instance import Instance

POLL_SECONDS = 0.1
ASK_SECONDS = 0.3
_ROTATE_SECONDS = 10.0
_DEATHS_AT_START = 5


class StopRequested(Exception):
    """Somebody pressed Ctrl-C or sent SIGTERM."""


class Supervisor:
    """The children of one instance, by stage: a later stage needs the earlier ones and stops before them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.is_up = False
        self._stages: list[list[Child]] = []
        self._is_stopping = False
        self._stop_requests = 0
        self._rotated_at = time.monotonic()

    def catch_signals(self) -> None:
        """From now on a request to stop is noticed at the next tick."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request_stop)

    def _request_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_requests += 1

    def start_stage(self, services: Sequence[Service]) -> None:
        """Start these together. The stage exists before its first child does, so a stop finds every one."""
        stage: list[Child] = []
        self._stages.append(stage)
        for service in services:
            child = Child(service, self.instance)
            stage.append(child)
            child.start()

    def wait_for(self, condition: Callable[[], bool], seconds: float, complaint: Callable[[], str]) -> None:
        """Tick until the condition holds; after ``seconds`` refuse with the complaint."""
        deadline = time.monotonic() + seconds
        while not condition():
            asked_at = time.monotonic()
            while time.monotonic() - asked_at < ASK_SECONDS:
                self.tick()
            if time.monotonic() > deadline:
                raise Refusal(ExitCode.SERVICE, complaint())

    def keep_up(self) -> None:
        """Stay in front until a stop is requested."""
        self.is_up = True
        while True:
            self.tick()

    def tick(self) -> None:
        """One round: notice requests and deaths, restart what is due, keep logs bounded, rest a moment."""
        if self._stop_requests:
            raise StopRequested
        for child in self._children():
            self._look_after(child)
        if time.monotonic() - self._rotated_at > _ROTATE_SECONDS:
            self._rotated_at = time.monotonic()
            for child in self._children():
                child.rotate_log()
        time.sleep(POLL_SECONDS)

    def _children(self) -> list[Child]:
        return [child for stage in self._stages for child in stage]

    def _look_after(self, child: Child) -> None:
        how = child.notice_death()
        if how is not None:
            say(f"{child.service.name} ended ({how}); starting it again (log: {child.log})")
            if not self.is_up and child.deaths_in_a_row >= _DEATHS_AT_START:
                line = child.last_line()
                raise Refusal(ExitCode.SERVICE, f"{child.service.name} does not stay up: {line} (log: {child.log})")
        if child.is_due():
            child.start()

    def stop(self) -> None:
        """Stop every stage, the last one first. A second Ctrl-C kills instead of asking."""
        self._stop_requests = 0
        for stage in reversed(self._stages):
            for child in stage:
                child.ask_to_stop()
            self._wait_for_end(stage)
            for child in stage:
                child.forget()
        self._stages.clear()

    def _wait_for_end(self, stage: Sequence[Child]) -> None:
        started = time.monotonic()
        while left := [child for child in stage if child.is_running]:
            for child in left:
                if self._stop_requests or time.monotonic() - started > child.service.stop_seconds:
                    say(f"{child.service.name} did not stop in time and is killed")
                    child.kill()
            time.sleep(POLL_SECONDS)
