"""States of an approval. What it is about has states of its own, in the room that asks."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from kernel.states import Machine


class ApprovalState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    RETURNED = "returned", _("asked back")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("refused")
    WITHDRAWN = "withdrawn", _("withdrawn")


S = ApprovalState
OPEN = (S.WAITING, S.RETURNED)
APPROVAL = Machine(
    "approval",
    ApprovalState,
    {
        # One step is through, the next one begins.
        (S.WAITING, "pass"): S.WAITING,
        # A vote no longer counts, or more is asked of the path: what was through waits again.
        (S.WAITING, "reopen"): S.WAITING,
        (S.WAITING, "approve"): S.APPROVED,
        (S.WAITING, "reject"): S.REJECTED,
        (S.WAITING, "return"): S.RETURNED,
        (S.WAITING, "withdraw"): S.WITHDRAWN,
        (S.RETURNED, "submit"): S.WAITING,
        (S.RETURNED, "withdraw"): S.WITHDRAWN,
    },
)
