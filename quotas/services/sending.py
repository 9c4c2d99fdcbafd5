"""What the form of a request does when it is sent: one intention, one unit, once, however often it is sent."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID

from accounts.models import Person
from approvals.kinds import Locked
from approvals.models import Approval
from approvals.services import lock_with_open
from inventory.models import GpuModel
from kernel import form_drafts, idempotency
from kernel.errors import NotFound
from kernel.form_drafts import Data
from kernel.unit import lock, unit_of_work
from projects import policies
from projects.models import Project
from projects.services.acts import as_now
from quotas.errors import RequestSent
from quotas.models import QuotaRequest
from quotas.requests.selectors import KIND, visible_requests
from quotas.services.requests import RequestFacts, create_locked, edit_locked
from quotas.services.submitting import submit_locked


@dataclass(frozen=True, slots=True)
class RequestSending:
    """A form as it was sent. ``key`` stands for this one sending; ``form`` and ``subject`` name its draft."""

    facts: RequestFacts
    key: UUID
    form: str
    typed: Data
    subject: str = ""
    is_submission: bool = False
    answer: str = ""
    seen: str | None = None

    @property
    def fingerprint(self) -> str:
        """Of what was typed: the same form sent again has the same."""
        canonical = json.dumps({**self.typed, "submit": self.is_submission}, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def request_send_new(*, actor: Person | None, project_id: int, sending: RequestSending) -> QuotaRequest:
    """A request from the form, submitted at once where that is asked for. What was kept of the form is forgotten.

    The same form sent twice gives the first request; sent again with other values, ``RequestSent``. Raises what
    ``request_create`` and ``request_submit`` raise; nothing is kept then.
    """
    with unit_of_work():
        someone = as_now(actor)
        locked = lock({Project: [project_id], GpuModel: _model(sending), Approval: [], QuotaRequest: []})
        project: Project = locked[Project][project_id]
        policies.require(someone, "request_quota", project)
        known = _claimed(someone, sending)
        if known is not None:
            return known
        row = create_locked(project, someone, sending.facts)
        _finish(row, someone, locked, sending)
    return row


def request_send_edit(*, actor: Person | None, request_id: int, sending: RequestSending) -> QuotaRequest:
    """Change a draft, or a request that was asked back, as the form states it; submitted where that is asked for, with
    the answer to an open question. Locks approval, project, GPU model and request.

    Raises what ``request_edit`` and ``request_submit`` raise, and ``RequestSent``; nothing is kept then.
    """
    with unit_of_work():
        someone = as_now(actor)
        found = visible_requests(someone).filter(pk=request_id).first()
        if found is None:
            raise NotFound
        wanted = {Project: [found.project_id], GpuModel: _model(sending), QuotaRequest: [request_id]}
        locked = lock_with_open(KIND, request_id, wanted)
        row: QuotaRequest = locked[QuotaRequest][request_id]
        row.project = locked[Project][row.project_id]
        policies.require(someone, "request_quota", row.project)
        known = _claimed(someone, sending)
        if known is not None:
            return known
        edit_locked(row, someone, sending.facts, sending.seen)
        _finish(row, someone, locked, sending)
    return row


def request_sent_before(person: Person, sending: RequestSending) -> QuotaRequest | None:
    """The request of this very form if it was sent before; ``RequestSent`` if that was with other values."""
    return _same(sending, idempotency.stored(actor=person, key=_key(sending)))


def _finish(row: QuotaRequest, someone: Person, locked: Locked, sending: RequestSending) -> None:
    if sending.is_submission:
        submit_locked(row, someone, locked, sending.answer)
    body = {"request": row.pk, "sent": sending.fingerprint}
    idempotency.store(actor=someone, key=_key(sending), status=200, body=body)
    form_drafts.finish(owner_id=someone.pk, key=sending.key, form=sending.form, subject=sending.subject)


def _claimed(someone: Person, sending: RequestSending) -> QuotaRequest | None:
    """The request of the form, in the unit that is to make it: of two at the same moment the second waits."""
    what = f"{sending.form} {sending.subject}"
    return _same(sending, idempotency.claim(actor=someone, key=_key(sending), fingerprint=what))


def _same(sending: RequestSending, stored: idempotency.Stored | None) -> QuotaRequest | None:
    if stored is None:
        return None
    row = QuotaRequest.objects.select_related("project", "gpu_model").get(pk=stored.body["request"])
    if stored.body["sent"] != sending.fingerprint:
        raise RequestSent(data={"request": row.pk})
    return row


def _key(sending: RequestSending) -> str:
    return f"form:{sending.key}"


def _model(sending: RequestSending) -> list[int]:
    """A model that is not there is refused by name later on."""
    pk = sending.facts.get("gpu_model_id")
    return list(GpuModel.objects.filter(pk=pk).values_list("pk", flat=True)) if pk else []
