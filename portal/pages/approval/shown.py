"""Which kinds the decision page knows more of than the flow does."""

from portal.pages.approval.kinds import show
from portal.pages.approval.quota.shown import ShownQuotaRequest
from portal.pages.approval.registration import ShownRegistration
from projects.content import REGISTRATION
from quotas.requests.selectors import KIND


def register() -> None:
    """Called once, when the site is ready."""
    show(REGISTRATION, ShownRegistration())
    show(KIND, ShownQuotaRequest())
