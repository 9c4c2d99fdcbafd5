"""Refusals of this room."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Forbidden


class NotYours(Forbidden):
    """The person may know of it, but this step is not theirs to decide. ``data``: approval."""

    code = "not_yours_to_decide"
    title = _("This is not yours to decide")


class OwnRequest(NotYours):
    """Who asked, stands in for who asked, or is on the project's side does not decide."""

    code = "own_request"
    title = _("Nobody decides on a request of their own, of a project of theirs, or of somebody they stand in for")


class NothingToDecide(Forbidden):
    """Only who may decide something names a stand-in: the stand-ins of who asks are kept from deciding."""

    code = "nothing_to_decide"
    title = _("You decide nothing, so there is nothing to stand in for")


class CannotTell(Conflict):
    """Who is on the side of who asks cannot be found out: then nobody decides."""

    code = "side_unknown"
    title = _("Who is on the side of who asks cannot be found out, so nobody decides. An admin can look into it.")


class MeanwhileChanged(Conflict):
    """The page was older than the approval. ``data``: version, state, happened (sentences)."""

    code = "changed_meanwhile"
    title = _("This changed while you were looking. Nothing was done.")


class ContentDiffers(Conflict):
    """What would be decided is not what was looked at. ``data``: changed (fields), content."""

    code = "content_changed"
    title = _("What is asked has changed since you looked at it. Nothing was decided.")


class AlreadyOpen(Conflict):
    """``data``: approval."""

    code = "approval_open"
    title = _("A decision on this is open already")
