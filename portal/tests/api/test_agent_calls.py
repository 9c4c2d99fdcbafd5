"""What a broken or hostile node says: refused by its place in the message, never a fault of ours."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from agent.messages import PROTOCOL
from inventory.tests import factories as hardware
from monitoring.tests import factories as samples
from portal.tests.api.world import undone
from scheduling.tests import factories as cluster

pytestmark = pytest.mark.django_db

WRONG: tuple[Any, ...] = (None, True, -1, 2**31, 2**63, 2**64, 1.5, "", "x" * 10_000, "a\0b", "\ud800", [], [None], {})
NOON = datetime(2026, 6, 9, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def fake(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[cluster.FakeNode]:
    with django_db_blocker.unblock(), transaction.atomic():
        node = cluster.node("node-a", gpus=2)
        cluster.running_job(cluster.project(gpus=2, limit=2), [node])
        yield node
        transaction.set_rollback(True)


def enrol_message(fake: cluster.FakeNode) -> Any:
    secret = hardware.token(cluster.admin(), "node-b")
    return hardware.enrol_message(secret, hardware.hardware("node-b", 1))


def sample_message(fake: cluster.FakeNode) -> Any:
    columns = [samples.columns(device.uuid, [91.0]) for device in fake.node.devices.all()]
    return samples.batch(columns, start=NOON, host=samples.host_columns(1))


MESSAGES: dict[str, Callable[[cluster.FakeNode], Any]] = {
    "enrol": enrol_message,
    "sync": lambda fake: fake.message(),
    "samples": sample_message,
}


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a message, the whole excepted."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*before, key)
        yield from places(child, (*before, key))


def changed(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The message with one place changed."""
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = changed(copy[place[0]], place[1:], new)
    return copy


@pytest.mark.parametrize("name", MESSAGES)
def test_nothing_a_node_says_is_a_fault_of_ours(name: str, fake: cluster.FakeNode) -> None:
    client = Client(headers={"Authorization": f"Bearer {fake.token}"})
    message = msgspec.to_builtins(MESSAGES[name](fake), builtin_types=())
    for place in places(message):
        for new in WRONG:
            with undone():
                body = json.dumps(changed(message, place, new), default=str)
                response: Any = client.post(f"/agent/v1/{name}", body, content_type="application/json")
            assert response.status_code < 500, (place, new)
            if response.status_code >= 400:
                assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("offset", ["-1", "x", "", "9" * 30, "0" * 5000, "1e3", "%00", "9" * 18])
def test_an_offset_that_cannot_be_meant_is_refused(offset: str, fake: cluster.FakeNode) -> None:
    (member,) = fake.held
    client = Client(headers={"Authorization": f"Bearer {fake.token}"})
    with undone():
        response: Any = client.post(f"/agent/v1/logs/{member}?offset={offset}", b"x", content_type="text/plain")
    assert response.status_code in (200, 409, 422)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_protocol_of_another_time_is_a_conflict(name: str, fake: cluster.FakeNode) -> None:
    client = Client(headers={"Authorization": f"Bearer {fake.token}"})
    message = msgspec.structs.replace(MESSAGES[name](fake), protocol=PROTOCOL + 1)
    response: Any = client.post(f"/agent/v1/{name}", msgspec.json.encode(message), content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (409, "protocol_mismatch")
