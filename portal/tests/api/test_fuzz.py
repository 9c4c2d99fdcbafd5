"""Every call of the OpenAPI document, by every role, with what it describes and with what it does not.

No answer is a fault of ours (5xx), and every answer is one that the document declares: status, type and content.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from django.core.signals import got_request_exception
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from portal.tests.api.document import Operation, document, operations
from portal.tests.api.world import ROLES, World, undone

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

EXAMPLES = 8
"""Per call and mode. The draws are the same in every run; a deeper search is a matter of minutes, not of CI."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
REPEATABLE = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SCHEMA = schemathesis.openapi.from_dict(document())


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("operation", list(operations()), ids=str)
def test_every_answer_is_one_that_is_described(
    operation: Operation, mode: GenerationMode, world: World, application: object
) -> None:
    described = SCHEMA[operation.path][operation.method]

    @REPEATABLE
    @given(case=described.as_strategy(generation_mode=mode), data=st.data())
    def call(case: Any, data: st.DataObject) -> None:
        aim(case, operation, world, data)
        token = world.tokens[data.draw(st.sampled_from(ROLES), label="role")]
        with undone(), faults() as raised:
            response = case.call(app=application, headers={"Authorization": f"Bearer {token}"})
            assert not raised, case.as_curl_command()
            case.validate_response(response, checks=CHECKS)

    call()


def aim(case: Any, operation: Operation, world: World, data: st.DataObject) -> None:
    """Mostly name what exists: a random id or name never gets beyond the first refusal."""
    for name in case.path_parameters or {}:
        is_member = name == "id" and "/members/" in operation.path
        known: Sequence[Any] = world.ids.get("people" if is_member else operation.resource, ())
        is_aimed: bool = data.draw(st.sampled_from([True, True, True, False]), label="aimed")
        if known and is_aimed:
            case.path_parameters[name] = str(data.draw(st.sampled_from(list(known)), label=name))
    if isinstance(case.body, dict):
        for name, known in world.values.items():
            is_named: bool = data.draw(st.booleans(), label="named")
            if name in case.body and known and is_named:
                case.body[name] = data.draw(st.sampled_from(list(known)), label=name)


@contextmanager
def faults() -> Iterator[list[BaseException]]:
    """What our code raised and nothing answered: the cause of a 500."""
    raised: list[BaseException] = []

    def remember(sender: object, **_: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            raised.append(error)

    got_request_exception.connect(remember)
    try:
        yield raised
    finally:
        got_request_exception.disconnect(remember)
