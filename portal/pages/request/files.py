"""The files of a request on its form: what was typed is kept first, so that an upload never costs a word."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel.downloads import attachment
from kernel.errors import Conflict, Invalid, NotFound
from kernel.ids import NO_ROW, id_in
from projects.models import Project
from projects.registration import keeping as kept
from projects.registration.keeping import Keeping
from quotas.models import QuotaRequest
from quotas.requests.content import content_hash
from quotas.requests.files import size_faults
from quotas.requests.selectors import visible_attachment
from quotas.services.attachments import attachment_add, attachment_remove
from quotas.services.sending import RequestSending, request_send_new


def move_to_draft(person: Person, project: Project, keeping: Keeping) -> QuotaRequest:
    """A request that files can belong to, for a form that had none; the same form makes one only."""
    sending = RequestSending(facts={}, key=keeping.key, form=keeping.form, typed={"_files": [str(project.pk)]})
    return request_send_new(actor=person, project_id=project.pk, sending=sending)


def add_files(request: HttpRequest, person: Person, row: QuotaRequest, keeping: Keeping) -> HttpResponse:
    """Keep what was typed, attach what was chosen, and go on with the form."""
    before, saved = content_hash(row), kept.refused(request, person, keeping)
    added = 0
    for file in request.FILES.getlist("files"):
        try:
            name = file.name or ""
            # What is too large is refused by its size, before it is read.
            if too_large := size_faults(name, file.size or 0):
                raise Invalid({"file": too_large})
            attachment_add(actor=person, request_id=row.pk, name=name, content=file.read())
            added += 1
        except Invalid as refusal:
            for texts in refusal.errors.values():
                messages.error(request, " ".join(map(str, texts)))
        except Conflict as refusal:
            messages.error(request, refusal.message)
            return redirect("quota-request", row.pk)
    if added and request.POST.get("act") == "submit":
        messages.success(request, _("The files are attached; the request is not sent yet. Look it over and send it."))
    return redirect(_address(request, person, row, _in_step(row, saved, before)))


def drop_file(request: HttpRequest, person: Person, row: QuotaRequest, keeping: Keeping, text: str) -> HttpResponse:
    """Keep what was typed, take the file back, and go on with the form."""
    before, saved = content_hash(row), kept.refused(request, person, keeping)
    attachment_remove(actor=person, request_id=row.pk, attachment_id=id_in(text) or NO_ROW)
    return redirect(_address(request, person, row, _in_step(row, saved, before)))


@require_GET
def download(request: HttpRequest, request_id: int, file_id: int) -> HttpResponse:
    """A file, to be kept and not shown: whoever may know of the request may read it."""
    found = visible_attachment(require_signed_in(request.user), request_id, file_id)
    if found is None:
        raise NotFound
    return attachment(bytes(found.content), found.content_type, found.name)


def _in_step(row: QuotaRequest, keeping: Keeping, before: str) -> Keeping:
    """The files are part of what is asked: whoever changes them here has seen it; what others changed is told."""
    return replace(keeping, seen=content_hash(row)) if keeping.seen in ("", before) else keeping


def _address(request: HttpRequest, person: Person, row: QuotaRequest, keeping: Keeping) -> str:
    """Where the form goes on with what was typed."""
    saved = kept.refused(request, person, keeping)
    address = reverse("quota-request-edit", args=[row.pk])
    return f"{address}?draft={saved.key}" if saved.version else address
