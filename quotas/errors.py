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
