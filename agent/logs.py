"""Ships the output of jobs: by offset, from where the portal says it is, so nothing is missing or twice."""

import logging
import threading
import time
from pathlib import Path

from agent.backoff import Backoff
from agent.errors import PortalProblem
from agent.portal import Portal
from agent.runner.members import Members

log = logging.getLogger(__name__)

LOOK_S = 0.2
GAP_S = 0.35
"""Least time between two posts of one quiet job; a full chunk goes at once."""
CHUNK_BYTES = 256 * 1024


class _Shipment:
    """How far one log has got. In memory only: after a restart the portal's first answer corrects it."""

    def __init__(self) -> None:
        self.offset = 0
        self.not_before = 0.0
        self.backoff = Backoff()
        self.is_refused = False


class LogShipper:
    """One pass over all logs at a time, one chunk of each: a talkative job does not hold up the others."""

    def __init__(self, portal: Portal, members: Members) -> None:
        self._portal = portal
        self._members = members
        self._shipments: dict[int, _Shipment] = {}

    def run(self, leaving: threading.Event) -> None:
        """Ship until the agent leaves."""
        while not leaving.is_set():
            if not self.ship_once():
                leaving.wait(LOOK_S)

    def ship_once(self) -> bool:
        """Send what is due. True when some log has more to send at once."""
        logs = self._members.logs()
        for gone in self._shipments.keys() - {member_id for member_id, _, _ in logs}:
            del self._shipments[gone]
        full = 0
        for member_id, path, is_open in logs:
            full += self._ship(member_id, path, is_open)
        return full > 0

    def is_done(self) -> bool:
        """Whether the portal holds all output there is, or will not take it."""
        for member_id, path, _ in self._members.logs():
            shipment = self._shipments.get(member_id)
            size = _size(path)
            if size and (shipment is None or (shipment.offset < size and not shipment.is_refused)):
                return False
        return True

    def _ship(self, member_id: int, path: Path, is_open: bool) -> bool:
        shipment = self._shipments.setdefault(member_id, _Shipment())
        waiting = _size(path) - shipment.offset
        now = time.monotonic()
        if waiting <= 0 or shipment.is_refused or now < shipment.not_before:
            return False
        data = _read(path, shipment.offset)
        if not data:
            return False
        try:
            reply = self._portal.send_log(member_id, shipment.offset, data)
        except PortalProblem as problem:
            self._failed(member_id, shipment, problem)
            return False
        has_moved = reply.next_offset != shipment.offset
        shipment.offset = reply.next_offset
        if not has_moved:
            shipment.not_before = now + shipment.backoff.failed()
            return False
        shipment.backoff.succeeded()
        is_full = waiting > CHUNK_BYTES
        shipment.not_before = now if is_full or not is_open else now + GAP_S
        return is_full

    @staticmethod
    def _failed(member_id: int, shipment: _Shipment, problem: PortalProblem) -> None:
        shipment.not_before = time.monotonic() + shipment.backoff.failed()
        if problem.status == 404:
            # Not a member of this node for the portal: it will say so by a sync, too.
            shipment.is_refused = True
        if shipment.backoff.failures == 1:
            log.warning("member %s: log not taken: %s", member_id, problem)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(CHUNK_BYTES)
    except FileNotFoundError:
        return b""
