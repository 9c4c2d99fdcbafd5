"""Small faults put into a document, one at a time, for tests that read documents."""

from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], Any]


def put(*path: Any, to: Any) -> Change:
    """Puts a value at this place."""

    def change(document: dict[str, Any]) -> None:
        _parent(document, path)[path[-1]] = to

    return change


def drop(*path: Any) -> Change:
    """Takes away what is at this place."""

    def change(document: dict[str, Any]) -> None:
        del _parent(document, path)[path[-1]]

    return change


def _parent(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path[:-1]:
        document = document[step]
    return document
