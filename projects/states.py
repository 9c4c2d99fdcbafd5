"""State of a project (REG1). Stage is something else: where its work stands."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from kernel.states import Machine


class ProjectState(models.TextChoices):
    DRAFT = "draft", _("draft")
    SUBMITTED = "submitted", _("submitted")
    ACTIVE = "active", _("active")
    REJECTED = "rejected", _("rejected")
    SUSPENDED = "suspended", _("suspended")
    CLOSED = "closed", _("closed")


S = ProjectState
PROJECT = Machine(
    "project",
    ProjectState,
    {
        (S.DRAFT, "submit"): S.SUBMITTED,
        (S.SUBMITTED, "approve"): S.ACTIVE,
        (S.SUBMITTED, "reject"): S.REJECTED,
        (S.SUBMITTED, "return"): S.DRAFT,
        (S.SUBMITTED, "withdraw"): S.DRAFT,
        (S.ACTIVE, "suspend"): S.SUSPENDED,
        (S.SUSPENDED, "resume"): S.ACTIVE,
        (S.ACTIVE, "close"): S.CLOSED,
        (S.SUSPENDED, "close"): S.CLOSED,
        (S.DRAFT, "close"): S.CLOSED,
    },
)

DONE = {
    "submit": "submitted",
    "withdraw": "withdrawn",
    "approve": "approved",
    "reject": "rejected",
    "return": "returned",
    "suspend": "suspended",
    "resume": "resumed",
    "close": "closed",
}
"""What the audit log calls each event once it has happened."""
