"""Errors that a person may see. Two renderers show them: ``kernel.problem`` (API) and ``kernel.pages`` (HTML)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _


class PortalError(Exception):
    """A refusal with a stable ``code``, an HTTP ``status``, a sentence for people and data for programs."""

    code = "error"
    status = 500
    title = _("Something went wrong")

    def __init__(self, message: str = "", *, data: Mapping[str, Any] | None = None) -> None:
        self.message = str(message or self.title)
        self.data: dict[str, Any] = dict(data or {})
        super().__init__(self.message)


class Unauthenticated(PortalError):
    code = "unauthenticated"
    status = 401
    title = _("Sign in first")


class Forbidden(PortalError):
    code = "forbidden"
    status = 403
    title = _("You may not do this")


class NotFound(PortalError):
    """Also the answer to a stranger: that something exists is not said."""

    code = "not_found"
    status = 404
    title = _("There is nothing here")


class Conflict(PortalError):
    code = "conflict"
    status = 409
    title = _("This no longer fits what is there")


class IllegalTransition(Conflict):
    """The state machine has no such step. ``data``: machine, state, event, allowed events."""

    code = "illegal_transition"
    title = _("Not possible in this state")


class LockTimeout(Conflict):
    """A row was held by someone else for more than three seconds. Trying again is safe."""

    code = "lock_timeout"
    title = _("Someone else is changing this right now. Nothing was changed; try again in a moment.")


class TooLarge(PortalError):
    """``data``: max_bytes."""

    code = "too_large"
    status = 413
    title = _("This is larger than the portal takes at once")


class LockOrderError(RuntimeError):
    """A programming error: locks asked for twice in one unit, or outside of one."""


class Invalid(PortalError):
    """Input that cannot be taken. ``errors`` maps a field to sentences naming the value and what is allowed."""

    code = "invalid"
    status = 422
    title = _("Some values cannot be taken")

    def __init__(self, errors: Mapping[str, Sequence[str] | str], message: str = "") -> None:
        self.errors = {f: [str(e)] if isinstance(e, str) else [str(x) for x in e] for f, e in errors.items()}
        if not message:
            message = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in self.errors.items())
        super().__init__(message, data={"errors": self.errors})
