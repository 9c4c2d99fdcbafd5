"""A real mail server and a real chat of the tests' own, on this machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class MailServer:
    """What it took, in order; whom it refuses and with which answer."""

    port: int = 0
    refuses: dict[str, str] = field(default_factory=dict)
    took: list[tuple[str, EmailMessage]] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802 - the name of the protocol's command
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        message = message_from_bytes(envelope.content, policy=policy.default)
        self.took += [(address, message) for address in envelope.rcpt_tos]
        return "250 taken"

    @property
    def addresses(self) -> list[str]:
        return sorted(address for address, _message in self.took)

    def to(self, address: str) -> list[EmailMessage]:
        return [message for taken, message in self.took if taken == address]


class _OnAnyPort(Controller):
    """Takes a free port, where the package wants to know it beforehand."""

    def _trigger_server(self) -> None:
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def mail_server(server: MailServer | None = None) -> Iterator[MailServer]:
    server = server or MailServer()
    controller = _OnAnyPort(server, hostname="127.0.0.1", port=0)
    controller.start()
    try:
        server.port = controller.port
        yield server
    finally:
        controller.stop()


@dataclass
class Chat:
    """What was posted, and the status it answers with."""

    url: str = ""
    status: int = 200
    posted: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def chat_server() -> Iterator[Chat]:
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if chat.status < 300:
                chat.posted.append(json.loads(body))
            self.send_response(chat.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(b"said the chat")

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal of the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    chat.url = f"http://127.0.0.1:{server.server_port}/hooks/secret-part"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
