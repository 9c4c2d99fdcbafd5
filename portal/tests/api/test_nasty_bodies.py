"""What programs send by mistake and people on purpose, to every call alike: refused by name, never a fault of ours."""

import json
from http import HTTPStatus

import pytest

from kernel.api.parsers import MAX_BYTES
from portal.tests.api.calls import names_refused, refused_by_somebody, send, who_may
from portal.tests.api.document import Operation, operations
from portal.tests.api.samples import DEEP, NUL, UNLIKELY, body_schema, fields_of, kind_of, likely_body, nested
from portal.tests.api.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

WITH_BODY = [operation for operation in operations() if body_schema(operation)]


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_what_is_no_json_is_400(operation: Operation, world: World) -> None:
    for body in ('{"a":', "\x00", '{"a": NaN}', nested(100_000)):
        refused_by_somebody(world, operation, HTTPStatus.BAD_REQUEST, data=body)


@pytest.mark.parametrize("operation", WITH_BODY, ids=str)
def test_a_body_that_is_too_large_is_413(operation: Operation, world: World) -> None:
    refused_by_somebody(world, operation, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, data=" " * (MAX_BYTES + 1))


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
