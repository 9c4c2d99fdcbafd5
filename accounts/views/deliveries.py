"""What was sent: the ledger of mails, digests and chat messages, for admins and auditors."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Channel, DeliveryOutcome, Role
from accounts.notifications import reading
from accounts.notifications.wording import wording
from accounts.policies import has_role, require_role
from accounts.services import notifications as services

PAGE_SIZE = 100


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Lines, newest first; the filter is the address. Who failed to be told stands with the reason."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    outcome = _one_of(request.GET.get("outcome", ""), DeliveryOutcome.values)
    channel = _one_of(request.GET.get("channel", ""), Channel.values)
    rows = reading.deliveries(request.user, outcome=outcome, channel=channel)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "lines": [{"row": row, "title": wording(row.notification).title} for row in page],
        "outcomes": DeliveryOutcome.choices,
        "channels": Channel.choices,
        "outcome": outcome,
        "channel": channel,
        "failed": reading.failed_count(request.user),
        "may_retry": has_role(request.user, Role.ADMIN),
    }
    return render(request, "accounts/deliveries.html", context)


@require_POST
def retry(request: HttpRequest, delivery_id: str) -> HttpResponse:
    """Send once more what was given up."""
    actor = require_role(request.user, Role.ADMIN)
    services.delivery_retry(actor=actor, delivery_id=int(delivery_id))
    messages.success(request, _("It is tried again now."))
    return redirect("accounts:deliveries")


def _one_of(asked: str, known: list[str]) -> str:
    return asked if asked in known else ""
