"""The decision page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from accounts.policies import require_signed_in
from approvals.kinds import kind_named
from approvals.policies import visible_to
from kernel.errors import NotFound


@require_GET
def approval(request: HttpRequest, approval_id: str) -> HttpResponse:
    """``/approvals/<id>``: to the page of what is asked."""
    found = visible_to(require_signed_in(request.user)).filter(pk=int(approval_id)).first()
    if found is None:
        raise NotFound
    return redirect(kind_named(found.kind).address(found))
