"""A file as the answer to a request."""

from django.http import HttpResponse
from django.utils.http import content_disposition_header


def attachment(content: bytes, kind: str, name: str) -> HttpResponse:
    """To be kept and not shown. No cache keeps what one person may see."""
    headers = {
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=kind, headers=headers)
