"""From where an act came: set by the middleware and by task and command edges, read by the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Origin:
    via: str
    """browser, api, agent, task or command."""
    address: str = ""
    token: str = ""
    """Name of the service token, never its value."""


_origin: ContextVar[Origin] = ContextVar("origin", default=Origin("command"))  # noqa: B039 - frozen


def current_origin() -> Origin:
    return _origin.get()


def acts_with_token(name: str) -> None:
    """Add the token's name for what is left of this request; the block of its ``origin`` ends it."""
    _origin.set(replace(_origin.get(), token=name))


@contextmanager
def origin(value: Origin) -> Iterator[None]:
    token = _origin.set(value)
    try:
        yield
    finally:
        _origin.reset(token)
