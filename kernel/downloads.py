"""A file as the answer to a request."""

from django.http import HttpResponse


def attachment(content: bytes, kind: str, name: str) -> HttpResponse:
    """To be kept and not shown; ``name`` is ours and plain ASCII. No cache keeps what one person may see."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=kind, headers=headers)
