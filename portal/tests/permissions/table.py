"""How a row is written: method, address, and the expected status for each kind of caller, in this order:

    row("GET", "/api/v1/projects/{project}", "401 404 200 200 200 200 200")

``{project}`` and the like are ids of the world (``world.py``). Besides a number, a column may say ``in`` (sent to
the page for signing in) or alternatives such as ``200/503``. Every call is undone before the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CALLERS = ("anonymous", "stranger", "researcher", "lead", "director", "admin", "auditor")
"""Researcher and lead are members of the world's project; the others hold their role organisation-wide or none."""

NODES = ("nobody", "person", "node", "other")
"""Callers of the agents' addresses: no token, an admin's token, the node's own, and that of another node."""

SIGN_IN = "in"


@dataclass(frozen=True)
class Row:
    method: str
    path: str
    expected: tuple[str, ...]
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    callers: tuple[str, ...] = CALLERS
    by_jobs_scope: bool = False
    """Whether a token with the scope ``jobs`` is enough for this writing call."""
    is_stream: bool = False
    """Whether the view gives its database connection back while it sends, so that nothing can be undone."""

    def __post_init__(self) -> None:
        if len(self.expected) != len(self.callers):
            raise ValueError(f"{self.method} {self.path}: {len(self.callers)} columns are needed")

    @property
    def is_api(self) -> bool:
        return self.path.startswith("/api/v1/")

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD", "OPTIONS")


def row(method: str, path: str, expected: str, **more: Any) -> Row:
    return Row(method, path, tuple(expected.split()), **more)


def agent_row(method: str, path: str, expected: str, **more: Any) -> Row:
    """A row of an address that nodes call: columns are those of ``NODES``."""
    return Row(method, path, tuple(expected.split()), callers=NODES, **more)
