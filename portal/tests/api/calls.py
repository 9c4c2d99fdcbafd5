"""One call of the API as a test makes it: undone afterwards, never a fault of ours, refused with problem details."""

import json
import re
from http import HTTPStatus
from typing import Any

from django.test import Client

from portal.tests.api.document import Operation
from portal.tests.api.samples import likely_body
from portal.tests.api.world import World, undone

ASKING = ("admin", "lead", "stranger")
REFUSED = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


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
    """The call's address with ids that exist and fit, or with this number in the place of each."""

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        if number is not None:
            return str(number)
        if name in world.targets:
            return str(world.targets[name])
        is_member = name == "id" and "/members/" in operation.path
        is_measurement = name == "id" and "/suitability/" in operation.path
        resource = "people" if is_member else "measurements" if is_measurement else operation.resource
        known = (world.ids.get(resource) or [1])[0]
        act = operation.path.rstrip("/").rsplit("/", 1)[1]
        is_target = name == "id" and not is_member
        return str(world.targets.get(f"{resource} {act}", known) if is_target else known)

    return re.sub(r"{(\w+)}", filled, operation.path)


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
