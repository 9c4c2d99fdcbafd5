"""What programs send by mistake and people on purpose, to every call alike: refused by name, never a fault of ours."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from kernel.idempotency import MAX_KEY_LENGTH
from portal.tests.api.document import Operation, operations
from portal.tests.api.samples import DEEP, NUL, UNLIKELY, body_schema, fields_of, kind_of, likely_body, nested, queries
from portal.tests.api.world import World, undone

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ALL = list(operations())
WITH_BODY = [operation for operation in ALL if body_schema(operation)]
LISTS = [operation for operation in ALL if "page_size" in queries(operation)]
OF_ONE = [operation for operation in ALL if "{" in operation.path]
ASKING = ("admin", "lead", "stranger")
REFUSED = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}
PRIVATE = {"projects", "jobs", "tokens", "telemetry"}
"""Resources of which a stranger is not told that they exist."""
PAGE_SIZES = ("0", "501", "-1", "x", "", "1.5", "\u0661", "9" * 5000, "000001999", "0" * 5000)
PAGES = ("999999", "0", "-1", "x", "9" * 5000, "1e9")
SORT_KEYS = ("pi__password", "-password", "owner__password", "?", "--name", "x" * 10_000, "pk;--")


def send(world: World, operation: Operation, role: str = "admin", /, **request: Any) -> Any:
    """One call, undone; what nothing of ours answers is raised, and every refusal is problem details."""
    headers = {"Authorization": f"Bearer {world.tokens[role]}", **request.pop("headers", {})}
    path = request.pop("path", None) or address(world, operation)
    request.setdefault("content_type", "application/json")
    if not isinstance(request.get("data", ""), str):
        request["data"] = json.dumps(request["data"])
    with undone():
        response: Any = Client().generic(operation.method.upper(), path, headers=headers, **request)
    assert response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, response.content[:500]
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        assert_problem(response)
    return response


def assert_problem(response: Any) -> None:
    assert response["Content-Type"] == "application/problem+json", response.content[:300]
    problem = json.loads(response.content)
    assert {"type", "title", "status", "detail", "code"} <= problem.keys()
    assert problem["status"] == response.status_code
    if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        assert problem["errors"], problem
        assert all(isinstance(texts, list) for texts in problem["errors"].values())


def address(world: World, operation: Operation, number: int | None = None) -> str:
    """The call's address with ids that exist, or with this number."""
    path = operation.path
    for name in ("project_id", "id"):
        resource = "people" if name == "id" and "/members/" in path else operation.resource
        known = (world.ids.get(resource) or [1])[0]
        if resource == "projects" and name == "id":
            known = world.targets.get(operation.path.rstrip("/").rsplit("/", 1)[1], known)
        path = path.replace(f"{{{name}}}", str(known if number is None else number))
    return path


def refused_by_somebody(world: World, operation: Operation, expected: int, **request: Any) -> list[Any]:
    """Who may call gets the expected refusal, who may not is told nothing; somebody may."""
    responses = [send(world, operation, role, **request) for role in ASKING]
    statuses = {response.status_code for response in responses}
    assert expected in statuses, (statuses, responses[0].content[:300])
    assert statuses <= {expected, *REFUSED}, statuses
    return [response for response in responses if response.status_code == expected]


def who_may(world: World, operation: Operation) -> str:
    """A role whose right to call is not what stops it."""
    body = likely_body(operation, world)
    for role in ASKING:
        if send(world, operation, role, data=body).status_code not in REFUSED:
            return role
    raise AssertionError(f"nobody may {operation}")


def names_refused(response: Any) -> list[str]:
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, response.content[:300]
    return list(json.loads(response.content)["errors"])


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


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_what_is_no_json_is_400(operation: Operation, world: World) -> None:
    for body in ('{"a":', "\x00", '{"a": NaN}', nested(100_000)):
        refused_by_somebody(world, operation, HTTPStatus.BAD_REQUEST, data=body)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_a_body_of_another_type_is_415(operation: Operation, world: World) -> None:
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"):
        refused_by_somebody(world, operation, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, data="a=b", content_type=kind)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_a_body_that_is_no_object_is_422(operation: Operation, world: World) -> None:
    for body in ("[]", '"x"', "5", "true", "null", nested(5)):
        refused_by_somebody(world, operation, HTTPStatus.UNPROCESSABLE_ENTITY, data=body)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_what_cannot_be_stored_is_422_by_its_place(operation: Operation, world: World) -> None:
    role, likely = who_may(world, operation), likely_body(operation, world)
    for name, _schema in fields_of(body_schema(operation) or {}):
        wrong = ((NUL, name), ("\ud800", name), ("x\udfff", name), ([NUL], f"{name}.0"), ({"a": [NUL]}, f"{name}.a.0"))
        for value, place in wrong:
            assert place in names_refused(send(world, operation, role, data={**likely, name: value}))
    names_refused(send(world, operation, role, data={**likely, f"n{NUL}": 1}))
    assert "x" in names_refused(send(world, operation, role, data=json.dumps({**likely, "x": 0})[:-2] + "1e400}"))


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_unlikely_values_in_any_field_are_no_fault_of_ours(operation: Operation, world: World) -> None:
    role, likely = who_may(world, operation), likely_body(operation, world)
    for name, _schema in fields_of(body_schema(operation) or {}):
        for value in UNLIKELY:
            send(world, operation, role, data={**likely, name: value})
        send(world, operation, role, data={name: likely[name]})
        send(world, operation, role, data=f'{{"{name}": {nested(DEEP)}}}')


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_true_is_no_number(operation: Operation, world: World) -> None:
    role, likely = who_may(world, operation), likely_body(operation, world)
    for name, schema in fields_of(body_schema(operation) or {}):
        if kind_of(schema) in ("integer", "number"):
            assert name in names_refused(send(world, operation, role, data={**likely, name: True}))


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
