"""Refusals of this room."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Conflict, Unauthenticated


class UnknownEnrolmentToken(Unauthenticated):
    code = "enrolment_token_unknown"
    title = _("This enrolment token is not known. Ask a platform admin for a new one.")


class EnrolmentTokenSpent(Conflict):
    """``data.reason``: used, revoked, expired or issuer."""

    code = "enrolment_token_spent"
    title = _("This enrolment token is no longer good")


class ProtocolMismatch(Conflict):
    code = "protocol_mismatch"
    title = _("Agent and portal speak different versions")


class DeviceElsewhere(Conflict):
    code = "device_elsewhere"
    title = _("One of these GPUs is registered on another node")


class UnknownNode(Unauthenticated):
    code = "node_unknown"
    title = _("No node has this token. Enrol the node again.")
