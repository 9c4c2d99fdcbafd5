"""What must work before an instance calls itself ready. Every room registers the check that it can answer."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Health:
    """One answer of ``/readyz``. ``detail`` is for the person who reads it and carries no secret."""

    ok: bool
    detail: str


Check = Callable[[], Health]

_checks: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Add a check. It is cheap (a query or a key, no broadcast) and says what is wrong by its answer."""
    if _checks.get(name, check) is not check:
        raise ValueError(f"two health checks are called {name!r}")
    _checks[name] = check


def registered() -> dict[str, Check]:
    """All checks by name, in the order in which they were registered."""
    return dict(_checks)
