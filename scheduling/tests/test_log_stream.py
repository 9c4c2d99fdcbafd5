"""The live log through the real ASGI application in a real server."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection, connections
from django.test import Client

from accounts.tests import factories as people
from projects.models import Project
from scheduling.tests import factories
from scheduling.views import log

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Event:
    name: str = "message"
    id: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Server(uvicorn.Server):
    """A server in a thread; signals stay with the tests."""

    def install_signal_handlers(self) -> None:
        return


@pytest.fixture
def base_url() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(
        uvicorn.Config(get_asgi_application(), host="127.0.0.1", port=port, lifespan="off", log_level="warning")
    )
    thread = threading.Thread(target=_serve, args=(server,))
    thread.start()
    _wait_for(port)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


def _serve(server: uvicorn.Server) -> None:
    try:
        asyncio.run(server.serve())
    finally:
        connections.close_all()


def _wait_for(port: int) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
        assert client.get(f"http://127.0.0.1:{port}/livez").status_code == 200


@pytest.fixture
def node() -> factories.FakeNode:
    return factories.node("alpha")


@pytest.fixture
def project(node: factories.FakeNode) -> Project:
    return factories.project()


def cookies(person: object) -> dict[str, str]:
    browser: Client = people.browser(person)  # type: ignore[arg-type]
    return {settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value}


def events(answer: httpx.Response) -> Iterator[Event]:
    current = Event()
    for line in answer.iter_lines():
        if not line:
            if current.lines:
                yield current
            current = Event()
            continue
        key, _colon, value = line.partition(": ")
        if key == "data:" or key == "data":
            current.lines.append(value)
        elif key == "event":
            current.name = value
        elif key == "id":
            current.id = value


def test_a_log_is_followed_to_its_end_and_resumed_at_the_last_byte(
    base_url: str, project: Project, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    (member,) = factories.members_of(job)
    node.logs[member.pk] = "eins\nzwei €\n".encode()
    node.send_logs()
    url = f"{base_url}/jobs/{job.pk}/log/stream"
    with httpx.Client(cookies=cookies(project.created_by), timeout=20) as client:
        with client.stream("GET", url) as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            seen = events(answer)
            first = next(seen)
            assert (first.text, first.id) == ("eins\nzwei €\n", "14")
            node.logs[member.pk] += b"drei\n"
            node.send_logs()
            second = next(seen)
            assert (second.text, second.id) == ("drei\n", "19")
            node.logs[member.pk] += b"vier"
            node.end(member.pk)
            node.sync()
            node.send_logs()
            node.sync()
            rest = list(seen)
        assert [event.name for event in rest] == ["message", "end"]
        assert (rest[0].text, rest[0].id) == ("vier", "23")
        with client.stream("GET", url + "?offset=0", headers={"Last-Event-ID": "19"}) as answer:
            assert [event.text for event in events(answer)] == ["vier", "complete"]
        with client.stream("GET", url + "?offset=14") as answer:
            assert next(events(answer)).text == "drei\nvier"
        whole = client.get(f"{base_url}/jobs/{job.pk}/log/")
        assert whole.content == "eins\nzwei €\ndrei\nvier".encode()
        assert "attachment" in whole.headers["content-disposition"]


def test_a_waiting_stream_holds_no_database_connection(
    base_url: str, project: Project, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    (member,) = factories.members_of(job)
    node.logs[member.pk] = b"x\n"
    node.send_logs()
    connection.close()
    with httpx.Client(cookies=cookies(project.created_by), timeout=20) as client:
        before = _most_connections()
        streams = [client.stream("GET", f"{base_url}/jobs/{job.pk}/log/stream") for _ in range(8)]
        try:
            for stream in streams:
                assert next(events(stream.__enter__())).text == "x\n"
            counts = [_most_connections() for _ in range(20)]
        finally:
            for stream in streams:
                stream.__exit__(None, None, None)
    assert min(counts) <= before + 2


def _most_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_a_stream_ends_within_five_seconds_when_the_person_may_no_longer_read(
    base_url: str, project: Project, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    (member,) = factories.members_of(job)
    node.logs[member.pk] = b"x\n"
    node.send_logs()
    auditor = people.auditor()
    with (
        httpx.Client(cookies=cookies(auditor), timeout=20) as client,
        client.stream("GET", f"{base_url}/jobs/{job.pk}/log/stream") as answer,
    ):
        seen = events(answer)
        assert next(seen).text == "x\n"
        people.off_board(auditor)
        since = time.monotonic()
        assert [event for event in seen if event.name != "alive"] == []
        assert time.monotonic() - since < 5


def test_nobody_and_strangers_get_no_stream(base_url: str, project: Project, node: factories.FakeNode) -> None:
    job = factories.running_job(project, [node])
    for path in ("log", "log/stream"):
        url = f"{base_url}/jobs/{job.pk}/{path}"
        assert httpx.get(url, cookies=cookies(people.person())).status_code == 404
        assert httpx.get(url).status_code == 302


def test_one_connection_is_bounded(
    base_url: str, project: Project, node: factories.FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LARGEST", 10)
    job = factories.running_job(project, [node])
    (member,) = factories.members_of(job)
    node.logs[member.pk] = b"0123456789abcdef\n"
    node.send_logs()
    with httpx.Client(cookies=cookies(project.created_by), timeout=20) as client:
        answer = client.get(f"{base_url}/jobs/{job.pk}/log/stream")
    assert "0123456789abcdef" in answer.text
    assert "event: end" not in answer.text
