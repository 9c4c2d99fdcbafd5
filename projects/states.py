"""States of a project and of what it measured (REG1). Stage is something else: where its work stands."""

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


class ImportState(models.TextChoices):
    UPLOADED = "uploaded", _("uploaded")
    CHECKING = "checking", _("checking")
    CHECKED = "checked", _("checked")
    APPLYING = "applying", _("applying")
    APPLIED = "applied", _("applied")
    FAILED = "failed", _("failed")
    DISCARDED = "discarded", _("discarded")
    UNDOING = "undoing", _("undoing")
    UNDONE = "undone", _("undone")


class MeasurementState(models.TextChoices):
    PROPOSED = "proposed", _("proposed")
    CONFIRMED = "confirmed", _("confirmed")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("withdrawn")
    SUPERSEDED = "superseded", _("superseded")
    REVOKED = "revoked", _("revoked")


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

M = MeasurementState
MEASUREMENT = Machine(
    "measurement",
    MeasurementState,
    {
        (M.PROPOSED, "confirm"): M.CONFIRMED,
        (M.PROPOSED, "reject"): M.REJECTED,
        (M.PROPOSED, "withdraw"): M.WITHDRAWN,
        (M.PROPOSED, "supersede"): M.SUPERSEDED,
        (M.CONFIRMED, "supersede"): M.SUPERSEDED,
        (M.CONFIRMED, "revoke"): M.REVOKED,
    },
)

I = ImportState  # noqa: E741 - as the other tables name theirs
PROJECT_IMPORT = Machine(
    "project import",
    ImportState,
    {
        (I.UPLOADED, "start_check"): I.CHECKING,
        # Again, when the worker that checked it was lost.
        (I.CHECKING, "start_check"): I.CHECKING,
        (I.CHECKING, "finish_check"): I.CHECKED,
        (I.CHECKING, "fail"): I.FAILED,
        (I.CHECKED, "check_again"): I.UPLOADED,
        (I.FAILED, "check_again"): I.UPLOADED,
        (I.CHECKED, "apply"): I.APPLYING,
        (I.APPLYING, "finish"): I.APPLIED,
        (I.APPLYING, "fail"): I.FAILED,
        (I.APPLIED, "undo"): I.UNDOING,
        (I.UNDOING, "finish_undo"): I.UNDONE,
        (I.UNDOING, "fail"): I.APPLIED,
        (I.UPLOADED, "discard"): I.DISCARDED,
        (I.CHECKING, "discard"): I.DISCARDED,
        (I.CHECKED, "discard"): I.DISCARDED,
        (I.FAILED, "discard"): I.DISCARDED,
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
    "confirm": "confirmed",
    "supersede": "superseded",
    "revoke": "revoked",
}
"""What the audit log calls each event once it has happened."""
