"""A small portal of the tests' own: real HTTP, the protocol's messages, and faults to order."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import MsgspecError, json

from agent import messages

TOKEN = "node-token"  # not a secret: the tests' own
ENROLMENT_TOKEN = "one-time"
NODE_ID = 7


class PortalServer:
    """Keeps what agents say, and answers with what the test wants the node to hold."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.launches: dict[int, messages.Launch] = {}
        self.stop_orders: dict[int, messages.StopOrder] = {}
        self.forget: set[int] = set()
        self.is_forgetting = True
        self.enrolments: list[messages.Enrol] = []
        self.syncs: list[messages.Sync] = []
        self.sync_times: list[float] = []
        self.fetches: list[int] = []
        self.logs: dict[int, bytes] = {}
        self.batches: list[messages.SampleBatch] = []
        self.states: dict[int, list[str]] = {}
        self.status: int | None = None
        """Answer everything with this status; 0 cuts the connection."""
        self.sync_interval_s = 1
        self.sample_interval_s = 1
        self.port = 0
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        portal = self

        class Handler(_Handler):
            server_portal = portal

        self._server = _Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Be gone: connections are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.cut_connections()
            self._server = None

    def want(self, launch: messages.Launch) -> None:
        """From now on the node should run this."""
        with self.lock:
            self.launches[launch.member_id] = launch

    def order_stop(self, member_id: int, *, grace_s: int = 5, reason: messages.StopReason = "user") -> None:
        """From now on the node should stop this."""
        with self.lock:
            fencing = self.launches[member_id].fencing
            self.stop_orders[member_id] = messages.StopOrder(member_id, fencing, reason, grace_s)

    def report(self, member_id: int) -> messages.MemberReport | None:
        """The newest report of a member."""
        with self.lock:
            if not self.syncs:
                return None
            return next((m for m in self.syncs[-1].members if m.member_id == member_id), None)

    def wait_for(self, condition: Callable[[], Any], what: str, timeout_s: float = 15.0) -> Any:
        """Wait for something that a message brings about; wakes with every message."""
        until = time.monotonic() + timeout_s
        with self.lock:
            while not (result := condition()):
                left = until - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{what}: not within {timeout_s} s; last sync {self.syncs[-1:]}")
                self.lock.wait(min(left, 0.1))
        return result

    def wait_state(self, member_id: int, state: str, timeout_s: float = 15.0) -> messages.MemberReport:
        """Wait until the member is reported in that state."""

        def reached() -> messages.MemberReport | None:
            report = self.report(member_id)
            return report if report is not None and report.state == state else None

        report = self.wait_for(reached, f"member {member_id} {state}", timeout_s)
        assert isinstance(report, messages.MemberReport)
        return report

    def answer(self, method: str, path: str, body: bytes, token: str) -> tuple[int, Any]:
        """One request."""
        with self.lock:
            try:
                return self._answer(method, path, body, token)
            except MsgspecError as error:
                return 422, str(error)
            finally:
                self.lock.notify_all()

    def _answer(self, method: str, path: str, body: bytes, token: str) -> tuple[int, Any]:
        if self.status is not None:
            return self.status, ""
        parts = urlsplit(path)
        if parts.path == messages.ENROL_PATH:
            return self._enrol(body)
        if token != f"Bearer {TOKEN}":
            return 401, "no"
        if parts.path == messages.SYNC_PATH:
            return 200, self._sync(json.decode(body, type=messages.Sync))
        if parts.path == messages.SAMPLES_PATH:
            self.batches.append(json.decode(body, type=messages.SampleBatch))
            return 200, messages.SampleReply(len(self.batches[-1].at), 0, 0)
        found = re.fullmatch(r"/agent/v1/(launches|logs)/(\d+)", parts.path)
        if found is None:
            return 404, "no such path"
        member_id = int(found.group(2))
        if found.group(1) == "launches":
            return self._launch(member_id)
        return self._log(member_id, int(parse_qs(parts.query)["offset"][0]), body)

    def _enrol(self, body: bytes) -> tuple[int, Any]:
        enrol = json.decode(body, type=messages.Enrol)
        if enrol.enrolment_token != ENROLMENT_TOKEN:
            return 401, "unknown token"
        self.enrolments.append(enrol)
        return 200, messages.Enrolled(NODE_ID, "node-7", TOKEN, messages.node_queue(NODE_ID))

    def _sync(self, sync: messages.Sync) -> messages.SyncReply:
        self.syncs.append(sync)
        self.sync_times.append(time.monotonic())
        here = {member.member_id: member for member in sync.members}
        for member in sync.members:
            states = self.states.setdefault(member.member_id, [])
            if states[-1:] != [member.state]:
                states.append(member.state)
        return messages.SyncReply(
            server_time=datetime.now(UTC),
            run=tuple(sorted(self.launches.keys() - here.keys() - self.stop_orders.keys())),
            stop=tuple(self.stop_orders[i] for i in sorted(self.stop_orders) if i in here and here[i].exit is None),
            forget=tuple(sorted(self.forget)),
            sync_interval_s=self.sync_interval_s,
            sample_interval_s=self.sample_interval_s,
        )

    def _launch(self, member_id: int) -> tuple[int, Any]:
        self.fetches.append(member_id)
        launch = self.launches.get(member_id)
        return (200, launch) if launch is not None else (409, "not wanted")

    def _log(self, member_id: int, offset: int, body: bytes) -> tuple[int, Any]:
        held = self.logs.get(member_id, b"")
        if offset <= len(held):
            self.logs[member_id] = held = held + body[len(held) - offset :]
        return 200, messages.LogReply(len(held))


class _Server(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def cut_connections(self) -> None:
        """A server that is gone answers on no open connection either."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A killed agent cuts its connections; that is no error here."""


class _Handler(BaseHTTPRequestHandler):
    server_portal: PortalServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, answer = self.server_portal.answer(self.command, self.path, body, self.headers.get("Authorization", ""))
        if status == 0:
            self.close_connection = True
            return
        content = json.encode(answer)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _handle  # noqa: N815 - the standard library's names

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


@contextmanager
def running_portal() -> Iterator[PortalServer]:
    """A portal for the length of a test."""
    portal = PortalServer()
    portal.start()
    try:
        yield portal
    finally:
        portal.stop()
