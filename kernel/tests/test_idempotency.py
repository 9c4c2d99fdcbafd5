"""A call with a key acts once: through a real view, over HTTP, also when it comes twice at the same time."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import override_settings
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIClient

from kernel import idempotency
from kernel.api.views import IdempotentMixin
from kernel.errors import Conflict, Invalid
from kernel.models import IdempotencyKey
from kernel.tests.doors import Door
from kernel.unit import unit_of_work

Elsewhere = Callable[..., Future[Any]]
WAIT = 20


class Doors(IdempotentMixin):
    """Makes a door; ``during`` is what happens while it does."""

    shown_once = frozenset({"key"})
    during: Callable[[], object] = staticmethod(lambda: None)

    def post(self, request: Request) -> Response:
        asked: Any = request.data
        door = Door.objects.create(name=asked["name"])
        type(self).during()
        if door.name == "walled up":
            raise Conflict
        return Response({"id": door.pk, "name": door.name, "key": "rusty"}, status=201)


urlpatterns = [path("doors/", Doors.as_view())]


@pytest.fixture(autouse=True)
def addresses() -> Any:
    with override_settings(ROOT_URLCONF=__name__):
        yield


def client(name: str = "ada") -> APIClient:
    person, _made = get_user_model().objects.get_or_create(username=name)
    caller = APIClient()
    caller.force_authenticate(person)
    return caller


def open_door(caller: APIClient, key: str | None, name: str = "front") -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return caller.post("/doors/", {"name": name}, headers=headers)


def test_without_a_key_every_call_acts(door_tables: None) -> None:
    caller = client()
    assert [open_door(caller, None).status_code for _ in range(2)] == [201, 201]
    assert Door.objects.count() == 2


def test_the_same_call_gets_the_same_answer_and_acts_once(door_tables: None) -> None:
    caller = client()
    first, again = open_door(caller, "k"), open_door(caller, "k")
    assert again.status_code == first.status_code == 201
    assert again.json() == {"id": first.json()["id"], "name": "front"}
    assert (first.headers.get("Idempotent-Replay"), again.headers["Idempotent-Replay"]) == (None, "true")
    assert Door.objects.count() == 1
    assert IdempotencyKey.objects.get().body == again.json(), "what is shown once is not stored"


def test_another_request_under_the_same_key_is_422(door_tables: None) -> None:
    caller = client()
    open_door(caller, "k")
    other = open_door(caller, "k", "back")
    assert other.status_code == 422
    assert list(other.json()["errors"]) == ["Idempotency-Key"]
    assert Door.objects.count() == 1


def test_keys_are_each_persons_own(door_tables: None) -> None:
    assert [open_door(client(name), "k").status_code for name in ("ada", "bob")] == [201, 201]
    assert Door.objects.count() == 2


def test_a_refused_call_leaves_its_key_free(door_tables: None) -> None:
    caller = client()
    assert open_door(caller, "k", "walled up").status_code == 409
    assert not Door.objects.exists()
    assert not IdempotencyKey.objects.exists()
    assert open_door(caller, "k").status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_a_length(door_tables: None, key: str) -> None:
    assert open_door(client(), key).status_code == 422
    assert not Door.objects.exists()


def test_a_key_is_for_a_method_a_path_and_a_body() -> None:
    prints = {
        idempotency.request_hash(*request)
        for request in (
            ("POST", "/a", b"1"), ("PUT", "/a", b"1"), ("POST", "/b", b"1"), ("POST", "/a", b"2"), ("POST", "/a1", b""),
        )
    }  # fmt: skip
    assert len(prints) == 5


def test_a_claim_outside_of_what_it_was_for_is_refused(door_tables: None) -> None:
    with unit_of_work():
        assert idempotency.claim(actor=None, key="k", fingerprint="a" * 64) is None
        idempotency.store(actor=None, key="k", status=204, body=None)
    with unit_of_work():
        assert idempotency.claim(actor=None, key="k", fingerprint="a" * 64) == idempotency.Stored(204, None)
    with pytest.raises(Invalid), unit_of_work():
        idempotency.claim(actor=None, key="k", fingerprint="b" * 64)


def test_two_calls_at_the_same_time_act_once(
    committed_door_tables: None, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = client()
    acting, second_sent = Event(), Event()

    def wait_for_the_second() -> None:
        acting.set()
        assert second_sent.wait(WAIT)

    monkeypatch.setattr(Doors, "during", staticmethod(wait_for_the_second))
    first = elsewhere(open_door, caller, "k")
    assert acting.wait(WAIT)
    second = elsewhere(open_door, client(), "k")
    second_sent.set()
    answers = [first.result(WAIT), second.result(WAIT)]
    assert [a.status_code for a in answers] == [201, 201]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert Door.objects.count() == 1
