"""The OpenAPI document itself: clean addresses, every refusal described, nothing guessed by the generator."""

import re

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from portal.tests.api.document import Operation, document, operations
from portal.tests.permissions import walk
from portal.tests.permissions.rows import ALL as ROWS

ALL = list(operations())
WRITING = {"400", "401", "403", "409", "413", "415", "422"}
PROBLEM = "#/components/schemas/Problem"
EXACT = {"^accounts/oidc/<slug:provider_id>/login/callback/"}


def test_addresses_are_clean() -> None:
    wrong = [path for path in document()["paths"] if not re.fullmatch(r"/api/v1(/([a-z-]+|{[a-z_]+}))+/", path)]
    assert wrong == []


@pytest.mark.parametrize("operation", ALL, ids=str)
def test_every_refusal_is_described(operation: Operation) -> None:
    responses = operation.described["responses"]
    needed = {"401"}
    if operation.method != "get":
        needed |= WRITING
    if "{" in operation.path:
        needed.add("404")
    assert needed <= responses.keys()
    for code, response in responses.items():
        if code >= "400":
            assert response["content"] == {"application/problem+json": {"schema": {"$ref": PROBLEM}}}, code
        else:
            assert code == "204" or response["content"], code


@pytest.mark.parametrize("operation", ALL, ids=str)
def test_every_call_says_what_it_does(operation: Operation) -> None:
    assert len(operation.described.get("description", "")) >= 10


def test_names_of_calls_are_unique() -> None:
    names = [operation.described["operationId"] for operation in ALL]
    assert len(names) == len(set(names))


def test_the_generator_had_nothing_to_guess(capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    assert [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache] == []


@pytest.mark.django_db
def test_the_document_is_served_to_anybody() -> None:
    for path in ("/api/schema", "/api/schema/"):
        answer = Client().get(path)
        assert answer.status_code == 200
        assert b"openapi: 3" in answer.content


# --- with and without the last slash


def test_every_address_resolves_with_and_without_the_last_slash() -> None:
    """Only what is registered elsewhere letter for letter has one form."""
    wrong = []
    for row in ROWS:
        path = re.sub(r"{\w+}", "1", row.path).rstrip("/")
        if path and "/oidc/" not in path:
            wrong += [form for form in (path, f"{path}/") if not _resolves(form)]
    assert sorted(set(wrong)) == []


def test_no_route_needs_a_slash_or_refuses_one() -> None:
    ends = [route for route in walk.routes() if not route.endswith("/?$") and route not in ("", "^$")]
    assert [route for route in ends if "oidc" not in route] == []


def _resolves(path: str) -> bool:
    try:
        resolve(path)
    except Resolver404:
        return False
    return True
