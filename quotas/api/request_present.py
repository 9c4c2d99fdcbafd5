"""Quota requests as plain data."""

from collections.abc import Sequence
from typing import Any

from accounts.models import Person
from approvals.api.present import whole as whole_approval
from approvals.selectors import approvals_of
from quotas.models import QuotaRequest, RequestAttachment
from quotas.requests.content import content_hash
from quotas.requests.selectors import KIND, approval_of, can_now, open_question

Plain = dict[str, Any]


def rows(found: Sequence[QuotaRequest]) -> list[Plain]:
    """A page of a list; one statement beside it."""
    approvals = approvals_of(KIND, [row.pk for row in found])
    return [_row(row, approvals[row.pk].pk if row.pk in approvals else None) for row in found]


def whole(row: QuotaRequest, reader: Person) -> Plain:
    approval, question = approval_of(row), open_question(row)
    return {
        **_row(row, approval.pk if approval else None),
        "content": content_hash(row),
        "path": whole_approval(approval, reader)["steps"] if approval else [],
        "question": {"text": question.text, "by": question.by.username, "at": question.at} if question else None,
        "attachments": [attachment(one) for one in row.attachments.select_related("added_by")],
        "can": can_now(reader, row),
    }


def attachment(row: RequestAttachment) -> Plain:
    return {
        "id": row.pk,
        "name": row.name,
        "content_type": row.content_type,
        "size": row.size,
        "sha256": row.sha256,
        "added_by": row.added_by.username,
        "added_at": row.added_at,
    }


def _row(row: QuotaRequest, approval_id: int | None) -> Plain:
    return {
        "id": row.pk,
        "project": row.project_id,
        "gpu_model": row.gpu_model.name if row.gpu_model else None,
        "guaranteed": row.guaranteed,
        "limit": row.limit,
        "least": row.least,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "reason": row.reason,
        "state": row.state,
        "created_by": row.created_by.username,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "submitted_by": row.submitted_by.username if row.submitted_by else None,
        "submitted_at": row.submitted_at,
        "cloned_from": row.cloned_from_id,
        "approval": approval_id,
        "granted": _granted(row),
    }


def _granted(row: QuotaRequest) -> Plain | None:
    if row.granted_guaranteed is None:
        return None
    return {
        "guaranteed": row.granted_guaranteed,
        "limit": row.granted_limit,
        "starts_at": row.granted_from,
        "ends_at": row.granted_ends_at,
    }
