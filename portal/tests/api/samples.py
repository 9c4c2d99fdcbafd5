"""A body that a call takes, and what nobody should send: made from the OpenAPI document, for every call alike."""

from collections.abc import Iterator
from typing import Any

from portal.tests.api.document import Operation, resolved
from portal.tests.api.world import World

DEEP = 100
NUL = "a\0b"
UNLIKELY: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**31,
    2**63,
    1.5,
    "",
    "x" * 30_000,
    "9" * 5000,
    "‮​🦀 ﷽",
    "0001-01-01",
    "9999-12-31",
    "9999-12-31T23:59:59+14:00",
    [],
    [None],
    {"a": {"b": [{}]}},
)
"""Values of every kind for every field, whatever its kind."""


def body_schema(operation: Operation) -> dict[str, Any] | None:
    """The schema of the JSON body, if the call takes one."""
    content = operation.described.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return resolved(schema) if schema else None


def likely_body(operation: Operation, world: World) -> dict[str, Any]:
    """A body that the call takes: values that exist, or the smallest of their kind."""
    schema = body_schema(operation) or {}
    return {name: _likely(child, world, operation.resource, name) for name, child in fields_of(schema)}


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields that can be sent. ``seen`` names a content that was read before; here nothing was."""
    for name, child in schema.get("properties", {}).items():
        if not child.get("readOnly") and name != "seen":
            yield name, child


def _likely(schema: dict[str, Any], world: World, resource: str, name: str = "") -> Any:
    known = world.values.get(f"{resource}.{name}") or world.values.get(name)
    if known:
        return known[0]
    if schema.get("nullable"):
        return None
    schema = _plain(resolved(schema))
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [_likely(schema["items"], world, resource)]
    by_format = {"date": "2031-05-01", "date-time": "2031-05-01T00:00:00Z", "decimal": "1.5"}
    if schema.get("format") in by_format:
        return by_format[schema["format"]]
    by_type = {"integer": max(1, schema.get("minimum", 1)), "number": 1, "boolean": False, "object": {}}
    return by_type.get(str(schema.get("type")), "a@example.org" if name == "email" else "text")


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the wrappings of *nullable* and of a described reference."""
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            return _plain(resolved(schema[word][0]))
    return schema


def kind_of(schema: dict[str, Any]) -> str:
    return str(_plain(resolved(schema)).get("type", "string"))


def nested(depth: int) -> str:
    """JSON that is lists in lists."""
    return "[" * depth + "]" * depth


def queries(operation: Operation) -> Iterator[str]:
    """The query parameters of a call by name."""
    for parameter in operation.described.get("parameters", []):
        if parameter["in"] == "query":
            yield parameter["name"]
