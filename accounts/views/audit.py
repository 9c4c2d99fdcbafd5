"""The audit log as a page."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts import selectors
from accounts.forms import AuditFilterForm
from accounts.models import Role
from accounts.policies import require_role
from accounts.selectors import AuditQuestion

PAGE_SIZE = 100


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Entries, newest first, for admins and auditors; the filter is the address."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    form = AuditFilterForm(request.GET)
    question = AuditQuestion(**form.cleaned_data) if form.is_valid() else AuditQuestion()
    page = Paginator(selectors.audit_entries(request.user, question), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "accounts/audit.html", {"page": page, "form": form}, status=200 if form.is_valid() else 422)
