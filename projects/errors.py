"""Refusals of this room."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Forbidden


class OwnProject(Forbidden):
    """Deciding on a project is not for its own people. ``data``: action."""

    code = "own_project"
    title = _("Nobody decides on a project of their own.")


class OwnMembership(Forbidden):
    """An admin has what they decided on only if somebody else puts them there."""

    code = "own_membership"
    title = _("Nobody puts themselves on a project or raises their own role there; its lead or another admin can.")


class NotEditable(Conflict):
    """``data``: state, fields."""

    code = "not_editable"
    title = _("This cannot be changed in this state")


class ContentChanged(Conflict):
    """What was looked at is no longer what is there. ``data``: changed (names of fields), content (now)."""

    code = "content_changed"
    title = _("The project has changed since you looked at it")


class AlreadySent(Conflict):
    """This form was sent before with another text. ``data``: project."""

    code = "already_sent"
    title = _("This form was sent before, with another text")


class ManyRefused(Conflict):
    """Of many projects some cannot be changed as asked, so none was. ``data``: projects, each with id, name, detail
    and changed (names of fields that are others than were looked at)."""

    code = "many_refused"
    title = _("Nothing was changed: some of the projects cannot be")


class AreaInUse(Conflict):
    """Something stands in this area or belongs to it. ``data``: projects, areas (how many)."""

    code = "area_in_use"
    title = _("The research area is in use")


class LastLead(Conflict):
    code = "last_lead"
    title = _("A project keeps at least one active lead. Name another lead first.")


class AlreadyMember(Conflict):
    code = "already_member"
    title = _("This person is on the project already")
