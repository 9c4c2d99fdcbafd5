"""All rows, and how an answer is compared with one."""

from importlib import import_module
from typing import Any

from portal.tests.permissions.table import SIGN_IN, Row

ROOMS = (
    *("site", "accounts", "agents", "inventory", "projects", "imports", "quotas", "scheduling", "monitoring"),
    *("approvals", "portal_pages", "requests"),
    "views",
)
ROWS: dict[str, list[Row]] = {room: list(import_module(f"portal.tests.permissions.{room}").ROWS) for room in ROOMS}
ALL = [row for rows in ROWS.values() for row in rows]


def fits(answer: Any, expected: str) -> bool:
    """Whether the answer is what a column says."""
    if expected == SIGN_IN:
        return bool(answer.status_code == 302 and answer["Location"].startswith("/accounts/login"))
    if answer.status_code == 302 and "/accounts/login" in answer["Location"]:
        return False
    return str(answer.status_code) in expected.split("/")


def said(answer: Any) -> str:
    """The answer in one line, for whoever reads a failure."""
    body = "" if answer.streaming or answer.status_code < 400 else answer.content.decode(errors="replace")[:160]
    return f"{answer.status_code} {answer.headers.get('Location', '')}{body if body.startswith('{') else ''}".strip()
