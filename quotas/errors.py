"""Refusals of this room. Each names what was asked, what is there, and when it is tightest."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Invalid


class ExceedsFree(Invalid):
    """More was asked than can be promised through the whole window. ``data``: asked, free, usable, at."""

    code = "exceeds_free"


class PromisesExceed(Conflict):
    """What would be left is less than what is promised. ``data``: gpu_model, at, promised, usable."""

    code = "promises_exceed"
    title = _("More is promised than would be left")


class NoResources(Conflict):
    """Only an active project holds resources (REG2). ``data``: state."""

    code = "project_not_active"
    title = _("Only an active project gets a quota")


class AccessOverlaps(Conflict):
    """``data``: access, the row that is there."""

    code = "access_overlaps"
    title = _("It may use this pool in that time already")


class Changed(Conflict):
    code = "changed_meanwhile"
    title = _("This changed while you were looking. Nothing was done; try again.")


class RequestOpen(Conflict):
    """Of one project and GPU model one request is open at a time. ``data``: request, the one that is."""

    code = "request_open"
    title = _("A request of this project for this GPU model is open already")


class HasMore(Conflict):
    """It asked for a raise, and meanwhile more is guaranteed. ``data``: asked, held."""

    code = "has_more_now"
    title = _("The project has more now than was asked for")


class WindowOver(Conflict):
    """``data``: ends_at."""

    code = "window_over"
    title = _("The time it was asked for is over")


class RequestNotEditable(Conflict):
    """``data``: state."""

    code = "not_editable"
    title = _("Only a draft, or a request that was asked back, can be changed")


class RequestChanged(Conflict):
    """What was looked at is no longer what is there. ``data``: changed (names of fields), content (now)."""

    code = "content_changed"
    title = _("The request has changed since you looked at it")


class RequestSent(Conflict):
    """This form was sent before with other values. ``data``: request."""

    code = "already_sent"
    title = _("This form was sent before, with other values")
