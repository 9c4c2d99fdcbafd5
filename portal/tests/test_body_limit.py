"""Bodies are bounded whether or not their length is declared, and whoever sends them."""

import asyncio
import json
from typing import Any

import pytest
from django.conf import settings

from portal.asgi import application

MOST = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
MIB = 1024 * 1024


def post(path: str, parts: list[bytes], *headers: tuple[bytes, bytes]) -> tuple[int, bytes, int]:
    """Status, body, and how many parts were asked for."""
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"testserver"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }
    waiting, sent = list(parts), []

    async def receive() -> Any:
        if not waiting:
            await asyncio.sleep(3600)  # A client that waits for its answer says nothing.
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(application(scope, receive, send))
    body = b"".join(event.get("body", b"") for event in sent[1:])
    return sent[0]["status"], body, len(parts) - len(waiting)


@pytest.mark.parametrize("path", ["/agent/v1/enrol", "/api/v1/jobs/", "/accounts/login/"])
def test_a_body_in_chunks_is_not_read_beyond_the_limit(path: str) -> None:
    status, body, read = post(path, [b"x" * MIB] * (2 * MOST // MIB))
    assert (status, json.loads(body)["code"]) == (413, "too_large")
    assert read == MOST // MIB + 1


def test_a_declared_length_beyond_the_limit_is_refused_unread() -> None:
    status, _body, read = post("/agent/v1/enrol", [b"x"], (b"content-length", str(MOST + 1).encode()))
    assert (status, read) == (413, 0)


def test_what_fits_arrives_whole() -> None:
    message = b'{"protocol": 1, "enrolment_token": "' + b"x" * MIB + b'"}'
    status, body, _read = post("/agent/v1/enrol", [message[:1000], message[1000:]])
    assert status == 422
    assert "enrolment_token" in json.loads(body)["detail"]
