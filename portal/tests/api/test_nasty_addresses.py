"""Addresses that nobody should ask for: ids, pages, filters, tokens, methods. Every call alike."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from kernel.idempotency import MAX_KEY_LENGTH
from portal.tests.api.calls import ASKING, REFUSED, address, assert_problem, names_refused, send
from portal.tests.api.document import Operation, operations
from portal.tests.api.samples import UNLIKELY, likely_body, nested, queries
from portal.tests.api.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ALL = list(operations())
LISTS = [operation for operation in ALL if "page_size" in queries(operation)]
OF_ONE = [operation for operation in ALL if "{" in operation.path]
PRIVATE = {"projects", "jobs", "tokens", "telemetry"}
"""Resources of which a stranger is not told that they exist."""
PAGE_SIZES = ("0", "501", "-1", "x", "", "1.5", "\u0661", "9" * 5000, "000001999", "0" * 5000)
PAGES = ("999999", "0", "-1", "x", "9" * 5000, "1e9")
SORT_KEYS = ("pi__password", "-password", "owner__password", "?", "--name", "x" * 10_000, "pk;--")


@pytest.mark.parametrize("operation", ALL, ids=str)
def test_without_a_token_is_401(operation: Operation, world: World) -> None:
    for header in ("", "Bearer x", "Basic YTpi", "Bearer sluice_" + "é" * 50, "\x7f"):
        response = send(world, operation, headers={"Authorization": header}, data="{}")
        assert response.status_code == HTTPStatus.UNAUTHORIZED
        assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("operation", OF_ONE, ids=str)
def test_an_id_that_is_not_there_is_404(operation: Operation, world: World) -> None:
    body = likely_body(operation, world)
    for number in (0, 10**18 - 1, 2**63, 2**64, 10**30):
        path = address(world, operation, number)
        codes = {role: send(world, operation, role, path=path, data=body).status_code for role in ASKING}
        assert set(codes.values()) <= REFUSED, codes
        assert codes["admin"] == HTTPStatus.NOT_FOUND, codes
        if operation.resource in PRIVATE:
            assert codes["stranger"] == HTTPStatus.NOT_FOUND, codes


@pytest.mark.parametrize("operation", LISTS, ids=str)
def test_pages_and_sorting_are_bounded(operation: Operation, world: World) -> None:
    path = address(world, operation)
    for value in PAGE_SIZES:
        assert names_refused(send(world, operation, path=f"{path}?page_size={value}")) == ["page_size"]
    for value in PAGES:
        assert send(world, operation, path=f"{path}?page={value}").status_code == HTTPStatus.NOT_FOUND
    for value in SORT_KEYS if "ordering" in queries(operation) else ():
        assert names_refused(send(world, operation, path=f"{path}?ordering={value}")) == ["ordering"]


@pytest.mark.parametrize("operation", [row for row in ALL if list(queries(row))], ids=str)
def test_unlikely_filters_are_no_fault_of_ours(operation: Operation, world: World) -> None:
    path = address(world, operation)
    for name in queries(operation):
        for value in texts():
            send(world, operation, path=path, query_params={name: value})
        send(world, operation, path=f"{path}?{name}=%ED%A0%80&{name}=%FF")
        assert names_refused(send(world, operation, path=f"{path}?{name}=a%00b")) == [name]


def texts() -> Iterator[str]:
    for value in UNLIKELY:
        yield value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("operation", [row for row in ALL if row.method != "get"], ids=str)
def test_a_key_that_cannot_be_kept_is_422(operation: Operation, world: World) -> None:
    for key in ("", "k" * (MAX_KEY_LENGTH + 1)):
        response = send(world, operation, headers={"Idempotency-Key": key}, data="{}")
        assert names_refused(response) == ["Idempotency-Key"]


@pytest.mark.parametrize("operation", ALL, ids=str)
def test_another_method_or_another_format_is_refused(operation: Operation, world: World) -> None:
    unknown = operation._replace(method="propfind")
    assert send(world, unknown).status_code == HTTPStatus.METHOD_NOT_ALLOWED
    other = send(world, operation, headers={"Accept": "text/html"}, data="{}")
    assert other.status_code == HTTPStatus.NOT_ACCEPTABLE


@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v1/nothing/", "/api/v2/projects/", "/api/v1/jobs/x/"])
def test_an_address_that_is_not_there_is_problem_details(path: str, world: World) -> None:
    assert send(world, Operation("get", path, {}), path=path).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("path", ["enrol", "sync", "launches/1", "logs/1", "samples"])
def test_an_agent_without_a_token_is_refused(path: str, world: World) -> None:
    for body in ("", "{", "[]", "null", '{"a": "\x00"}', nested(100_000)):
        for method in ("get", "post"):
            response: Any = Client().generic(method, f"/agent/v1/{path}", body, content_type="application/json")
            assert HTTPStatus.BAD_REQUEST <= response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
            assert_problem(response)
