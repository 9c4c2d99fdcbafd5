"""The files of a request: added and removed while it may be changed, part of what is decided on."""

import hashlib

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import Invalid, NotFound
from kernel.unit import unit_of_work
from quotas.models import QuotaRequest, RequestAttachment
from quotas.requests.files import MOST_FILES, faults_of, tidy_name, type_of
from quotas.services.requests import begin, require_editable


def attachment_add(*, actor: Person | None, request_id: int, name: str, content: bytes) -> RequestAttachment:
    """Attach a file to a draft, or to a request that was asked back. Locks project and request.

    Raises ``NotFound``, ``Forbidden``, ``RequestNotEditable``, ``Invalid`` for a file that is not taken.
    """
    with unit_of_work():
        someone, row = begin(actor, request_id)
        return add_locked(row, someone, name, content)


def add_locked(row: QuotaRequest, someone: Person, name: str, content: bytes) -> RequestAttachment:
    """The same in a unit that holds the request's lock, for somebody who may."""
    require_editable(row)
    tidy = tidy_name(name)
    faults, kind = faults_of(tidy, content), type_of(tidy)
    if kind is None or faults:
        raise Invalid({"file": faults})
    if row.attachments.count() >= MOST_FILES:
        raise Invalid({"file": _("At most %(most)s files; remove one first.") % {"most": MOST_FILES}})
    found = RequestAttachment.objects.create(
        request=row,
        name=tidy,
        content_type=kind.content_type,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
        added_by=someone,
        added_at=clock.now(),
    )
    audit.record("quota_request.file_added", actor=someone, subject=row, after=_plain(found))
    return found


def attachment_remove(*, actor: Person | None, request_id: int, attachment_id: int) -> None:
    """Take a file back. Raises as ``attachment_add``."""
    with unit_of_work():
        someone, row = begin(actor, request_id)
        require_editable(row)
        found = row.attachments.defer("content").filter(pk=attachment_id).first()
        if found is None:
            raise NotFound
        audit.record("quota_request.file_removed", actor=someone, subject=row, before=_plain(found))
        found.delete()


def _plain(found: RequestAttachment) -> dict[str, object]:
    return {"attachment": found.pk, "name": found.name, "size": found.size, "sha256": found.sha256}
