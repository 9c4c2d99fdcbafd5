"""Bounds the body of a request before anything stores it: Django keeps the whole of it, whoever sends it.

``DATA_UPLOAD_MAX_MEMORY_SIZE`` looks at the length that a client declares, and only where a view asks for the body;
one sent in chunks declares none and is written to the disk before the first look at who sends it.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

Scope = dict[str, Any]
Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_STATUS = 413
_TITLE = "The request is too large"


class BodyLimit:
    """Hands on to ``application`` what is at most ``most`` bytes; the rest is answered with 413."""

    def __init__(self, application: Application, most: int) -> None:
        self._application = application
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if _declared(scope["headers"]) > self._most:
            await self._refuse(send)
            return
        body = _Counted(receive, send, self._most)
        await self._application(scope, body.receive, body.send)
        if body.is_too_large and not body.is_answered:
            await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        problem = {
            "type": "urn:sluice:too_large",
            "title": _TITLE,
            "status": _STATUS,
            "detail": f"A request has at most {self._most} bytes.",
            "code": "too_large",
        }
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"content-security-policy", b"default-src 'none'"),
            (b"x-content-type-options", b"nosniff"),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": _STATUS, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": json.dumps(problem).encode(), "more_body": False})


class _Counted:
    """The channels of one request. Past the limit the client seems to have gone, which ends reading at once."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive = receive
        self._send = send
        self._left = most
        self.is_too_large = False
        self.is_answered = False

    async def receive(self) -> Event:
        event = await self._receive()
        if event["type"] == "http.request":
            self._left -= len(event["body"])
            self.is_too_large = self._left < 0
        return {"type": "http.disconnect"} if self.is_too_large else event

    async def send(self, event: Event) -> None:
        self.is_answered = True
        await self._send(event)


def _declared(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The length that the client says, 0 where it says none; the server has refused what is no number."""
    found = dict(headers).get(b"content-length", b"0")
    return int(found) if found.isdigit() else 0
