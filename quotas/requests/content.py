"""What who decides sees of a request, and its hash: a vote holds for this content and no other."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.translation import gettext_lazy as _

from quotas.models import QuotaRequest

WORDS = {
    "project": _("Project"),
    "gpu_model": _("GPU model"),
    "guaranteed": _("Guaranteed"),
    "limit": _("Limit"),
    "least": _("Least that helps"),
    "starts_at": _("From"),
    "ends_at": _("Until"),
    "reason": _("Reason"),
    "attachments": _("Attachments"),
}
"""What is asked, in a fixed order, with what screens call it."""
_WHOLE, _SHORT = 64, 8


def content_of(request: QuotaRequest) -> dict[str, Any]:
    """Exactly what is asked, as plain values."""
    return {
        "project": request.project_id,
        "gpu_model": request.gpu_model_id,
        "guaranteed": request.guaranteed,
        "limit": request.limit,
        "least": request.least,
        "starts_at": _instant(request.starts_at),
        "ends_at": _instant(request.ends_at),
        "reason": request.reason,
        "attachments": [[row.name, row.sha256] for row in request.attachments.all()],
    }


def content_hash(request: QuotaRequest) -> str:
    """SHA-256 over the content, then eight digits per field: the first decides, the rest says what changed."""
    content = content_of(request)
    return _digest(content) + "".join(_digest(content[field])[:_SHORT] for field in WORDS)


def changed_words(seen: str, now: str) -> list[str]:
    """The fields in which two content hashes differ, in words; all of them if the first is no content hash."""
    fields: Sequence[str] = list(WORDS)
    if len(seen) == _WHOLE + _SHORT * len(fields):
        old, new = seen[_WHOLE:], now[_WHOLE:]
        parts = [slice(i * _SHORT, (i + 1) * _SHORT) for i in range(len(fields))]
        fields = [field for field, part in zip(fields, parts, strict=True) if old[part] != new[part]]
    return [str(WORDS[field]) for field in fields]


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


def _digest(value: Any) -> str:
    canonical = json.dumps(value, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
