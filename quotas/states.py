"""States of a quota request. What is granted stands in the ledger and ends by its date, whatever the state is."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from kernel.states import Machine


class RequestState(models.TextChoices):
    DRAFT = "draft", _("draft")
    SUBMITTED = "submitted", _("submitted")
    RETURNED = "returned", _("asked back")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("withdrawn")


S = RequestState
OPEN = (S.SUBMITTED, S.RETURNED)
"""Asked for and not decided."""
EDITABLE = (S.DRAFT, S.RETURNED)
QUOTA_REQUEST = Machine(
    "quota request",
    RequestState,
    {
        (S.DRAFT, "submit"): S.SUBMITTED,
        (S.DRAFT, "withdraw"): S.WITHDRAWN,
        (S.SUBMITTED, "approve"): S.APPROVED,
        (S.SUBMITTED, "reject"): S.REJECTED,
        (S.SUBMITTED, "return"): S.RETURNED,
        (S.SUBMITTED, "withdraw"): S.WITHDRAWN,
        (S.RETURNED, "submit"): S.SUBMITTED,
        (S.RETURNED, "withdraw"): S.WITHDRAWN,
    },
)
DONE = {
    "submit": "submitted",
    "approve": "approved",
    "reject": "rejected",
    "return": "returned",
    "withdraw": "withdrawn",
}
"""What the audit log calls each event once it has happened."""
