"""The OpenAPI document as tests read it."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")


class Operation(NamedTuple):
    method: str
    path: str
    described: dict[str, Any]

    @property
    def resource(self) -> str:
        """The first word of the address: ``projects`` of ``/api/v1/projects/{id}/``."""
        return self.path.removeprefix("/api/v1/").split("/", 1)[0]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


@cache
def document() -> dict[str, Any]:
    """The document that ``/api/schema/`` serves."""
    generated: dict[str, Any] = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return generated


def operations() -> Iterator[Operation]:
    for path, methods in document()["paths"].items():
        for method in METHODS:
            if method in methods:
                yield Operation(method, path, methods[method])


def properties(component: str) -> dict[str, Any]:
    """The fields of a schema by name."""
    found: dict[str, Any] = document()["components"]["schemas"][component]["properties"]
    return found


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference stands for."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: dict[str, Any] = document()["components"]["schemas"][reference.rsplit("/", 1)[1]]
    return found
