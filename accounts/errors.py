"""Refusals of this room."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Forbidden


class OwnAccount(Forbidden):
    """What a person may do to others only."""

    code = "own_account"
    title = _("Nobody changes the roles or the state of their own account. Another admin can.")


class LastAdmin(Conflict):
    """Without an admin nobody could ever grant a role again."""

    code = "last_admin"
    title = _("This is the last active platform admin. Grant the role to somebody else first.")


class AlreadySo(Conflict):
    """The second click: what was asked for is so already, and nothing was done."""

    code = "already_so"


class Overtaken(Conflict):
    """What was to end is more than what was locked: something was added at the same moment. Trying again is safe."""

    code = "overtaken"
    title = _("Something was added for this person at this moment. Nothing was done; look again.")


class SignInRefused(Forbidden):
    """The identity is proven, but it opens nothing here."""

    code = "sign_in_refused"
