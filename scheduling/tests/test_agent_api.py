"""The agents' calls over HTTP: who may, what is refused, and how little they ask of the database."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agent.messages import Launch, LogReply, MemberReport, SyncReply
from kernel import clock
from scheduling import selectors, services
from scheduling.models import Job
from scheduling.services.logs import MAX_CHUNK_BYTES
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db

SYNC = "/agent/v1/sync"
IDLE_SYNC_STATEMENTS = 7
"""Of a node without jobs: authentication, its row and devices, what it holds; begin, time-out and commit included."""
STEADY_SYNC_STATEMENTS = 8


def post(fake: make.FakeNode, path: str, body: bytes, token: str | None = None) -> Any:
    bearer = f"Bearer {fake.token if token is None else token}"
    return Client().post(path, body, content_type="application/json", headers={"Authorization": bearer})


def get(fake: make.FakeNode, path: str) -> Any:
    return Client().get(path, headers={"Authorization": f"Bearer {fake.token}"})


@contextmanager
def at_most(statements: int) -> Iterator[None]:
    with CaptureQueriesContext(connection) as asked:
        yield
    texts = [query["sql"] for query in asked.captured_queries if "SAVEPOINT" not in query["sql"]]
    assert len(texts) <= statements, "\n".join(texts)


def test_a_life_over_http() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    answer = post(fake, SYNC, msgspec.json.encode(fake.message()))
    assert answer.status_code == 200
    assert msgspec.json.decode(answer.content, type=SyncReply).run == (member.pk,)

    answer = get(fake, f"/agent/v1/launches/{member.pk}")
    launch = msgspec.json.decode(answer.content, type=Launch)
    assert (launch.job_id, launch.world_size, launch.rank) == (job.pk, 1, 0)
    assert launch.env["SLUICE_ATTEMPT"] == "1"

    answer = post(fake, f"/agent/v1/logs/{member.pk}/?offset=0", b"\x00\xff one\n")
    assert msgspec.json.decode(answer.content, type=LogReply).next_offset == 7
    assert selectors.log_read(job.pk).data == b"\x00\xff one\n"
    answer = post(fake, f"/agent/v1/logs/{member.pk}?offset=99", b"later")
    assert msgspec.json.decode(answer.content, type=LogReply).next_offset == 7

    fake.held[member.pk] = MemberReport(member.pk, 1, "running", clock.now())
    post(fake, SYNC, msgspec.json.encode(fake.message()))
    assert Job.objects.get(pk=job.pk).state == "running"


def test_without_a_nodes_token_nothing_is_said() -> None:
    fake = make.node()
    for path in (SYNC, "/agent/v1/launches/1", "/agent/v1/logs/1?offset=0"):
        call = Client().get if "launches" in path else Client().post
        assert call(path).status_code == 401
        wrong = call(path, headers={"Authorization": "Bearer nobody"})
        assert wrong.status_code == 401
    assert post(fake, SYNC, b"{}", token="").status_code == 401


def test_another_nodes_member_is_not_there() -> None:
    fake, other = make.node(), make.node()
    job = make.running_job(make.project(), [fake, other])
    [member] = make.members_of(job)
    stranger = other if member.node_id == fake.node.pk else fake
    assert get(stranger, f"/agent/v1/launches/{member.pk}").status_code == 404
    assert post(stranger, f"/agent/v1/logs/{member.pk}?offset=0", b"x").status_code == 404
    assert get(stranger, "/agent/v1/launches/999999999").status_code == 404


def test_what_is_not_wanted_any_more_is_a_409() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    services.job_cancel(actor=job.owner, job_id=job.pk)
    answer = get(fake, f"/agent/v1/launches/{member.pk}")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_longer_wanted")


@pytest.mark.parametrize(
    ("body", "place"),
    [(b"not json", "$"), (b'{"protocol": "1"}', "$.protocol"), (b"[]", "$")],
)
def test_a_message_of_the_wrong_type_is_refused_with_its_place(body: bytes, place: str) -> None:
    answer = post(make.node(), SYNC, body)
    assert answer.status_code == 422
    assert place in answer.json()["errors"]


def test_fields_that_nobody_knows_yet_are_ignored() -> None:
    fake = make.node()
    message = json.loads(msgspec.json.encode(fake.message()))
    answer = post(fake, SYNC, json.dumps({**message, "colour": "green"}).encode())
    assert answer.status_code == 200


@pytest.mark.parametrize("offset", ["", "-1", "x", "1.5", "9" * 30])
def test_an_offset_is_a_count_of_bytes(offset: str) -> None:
    assert post(make.node(), f"/agent/v1/logs/1?offset={offset}", b"x").status_code == 422


def test_a_piece_of_a_log_has_a_largest_size() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    path = f"/agent/v1/logs/{member.pk}?offset=0"
    too_large = post(fake, path, b"x" * (MAX_CHUNK_BYTES + 1))
    assert (too_large.status_code, too_large.json()["max_bytes"]) == (413, MAX_CHUNK_BYTES)
    assert post(fake, path, b"x" * MAX_CHUNK_BYTES).status_code == 200


def test_a_sync_of_a_node_without_jobs_asks_little() -> None:
    fake = make.node()
    body = msgspec.json.encode(fake.message())
    with at_most(IDLE_SYNC_STATEMENTS):
        assert post(fake, SYNC, body).status_code == 200


@pytest.mark.parametrize("jobs", [1, 5])
def test_a_sync_of_a_node_whose_jobs_go_on_asks_the_same_for_all(jobs: int) -> None:
    fake = make.node()
    project = make.project(gpus=8)
    for _ in range(jobs):
        make.running_job(project, [fake])
    body = msgspec.json.encode(fake.message())
    with at_most(STEADY_SYNC_STATEMENTS):
        assert post(fake, SYNC, body).status_code == 200
