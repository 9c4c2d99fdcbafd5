"""Refusals of this room."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Invalid, PortalError


class LaunchBlocked(Invalid):
    """The pre-launch check blocks the submission. ``data["launch_check"]`` holds every item of the check."""

    code = "launch_blocked"
    title = _("The pre-launch check blocks this job")

    def __init__(self, errors: Mapping[str, Sequence[str]], items: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(errors)
        self.data["launch_check"] = [dict(item) for item in items]


class ProjectNotActive(Conflict):
    """REG2: no registration, no resources. ``data``: project, state."""

    code = "project_not_active"
    title = _("The project is not active")


class NoLongerWanted(Conflict):
    """A node asked for something that the portal does not want to run any more."""

    code = "no_longer_wanted"
    title = _("This is no longer wanted")


class NodeNotEmpty(Conflict):
    """A node that still holds jobs cannot be removed. ``data["jobs"]`` names them."""

    code = "node_not_empty"
    title = _("Jobs are still on this node")


class Busy(PortalError):
    """A node's call met a lock for too long; nothing was changed, and it tries again."""

    code = "busy"
    status = 503
    title = _("Busy; try again in a moment")


class LogTooLarge(PortalError):
    """One piece of a log is larger than the portal takes at once. ``data``: max_bytes."""

    code = "log_too_large"
    status = 413
    title = _("This piece of a log is too large")
