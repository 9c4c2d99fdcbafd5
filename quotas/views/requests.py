"""The file of a request, for whoever may see the request."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from kernel.downloads import attachment
from kernel.errors import NotFound
from quotas.requests.selectors import visible_attachment


@require_GET
def file(request: HttpRequest, request_id: str, attachment_id: str) -> HttpResponse:
    """To be kept and not shown."""
    found = visible_attachment(require_signed_in(request.user), int(request_id), int(attachment_id))
    if found is None:
        raise NotFound
    return attachment(bytes(found.content), found.content_type, found.name)
