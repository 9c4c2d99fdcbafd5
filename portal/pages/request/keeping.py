"""Under which names the form is kept while one types, and what its drafts are called."""

from django.urls import reverse
from django.utils.translation import gettext as _

from kernel import form_drafts
from kernel.form_drafts import Kind, first
from kernel.models import FormDraft
from projects.registration.keeping import Keeping, fresh
from quotas.models import QuotaRequest
from quotas.requests.content import content_hash

NEW, EDIT = "quotas.request", "quotas.request-edit"
_PROJECT, _REQUEST = "project:", "request:"
_ID_DIGITS = 18


def for_new(project_id: int) -> Keeping:
    return fresh(NEW, f"{_PROJECT}{project_id}")


def for_edit(row: QuotaRequest) -> Keeping:
    """Three statements at most."""
    return fresh(EDIT, f"{_REQUEST}{row.pk}", content_hash(row))


def describe_forms() -> None:
    """Called once the rooms are ready."""
    form_drafts.describe(NEW, Kind(_title, lambda draft: f"{_new(draft)}?draft={draft.key}", _new))
    form_drafts.describe(EDIT, Kind(_title, lambda draft: f"{_edit(draft)}?draft={draft.key}", _edit))


def _title(draft: FormDraft) -> str:
    name = " ".join(first(draft.data, "project_name").split())
    return _("Quota for %(project)s") % {"project": name} if name else _("Request for quota")


def _new(draft: FormDraft) -> str:
    return reverse("quota-request-new", args=[_number(draft.subject, _PROJECT)])


def _edit(draft: FormDraft) -> str:
    return reverse("quota-request-edit", args=[_number(draft.subject, _REQUEST)])


def _number(subject: str, prefix: str) -> int:
    """The subject is what a page sent: one that names nothing leads to what is not there."""
    number = subject.removeprefix(prefix)
    return int(number) if number.isascii() and number.isdigit() and len(number) <= _ID_DIGITS else 0
