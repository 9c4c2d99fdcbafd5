"""The audit log as a page."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts import selectors
from accounts.audit_lines import audit_lines
from accounts.audit_words import action_words, kind_words, known_actions, known_kinds
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
    context = {
        "page": page,
        "lines": audit_lines(list(page)),
        "form": form,
        "is_filtered": question != AuditQuestion(),
        "actions": _with_current(known_actions(), question.action, action_words(question.action)),
        "kinds": _with_current(known_kinds(), question.subject, _subject(question.subject)),
    }
    return render(request, "accounts/audit.html", context, status=200 if form.is_valid() else 422)


def _with_current(choices: list[tuple[str, str]], current: str, words: str) -> list[tuple[str, str]]:
    """An address may ask for more than the choice offers, a part of a name or one row: the choice must say so."""
    is_offered = not current or current in dict(choices)
    return choices if is_offered else [(current, words), *choices]


def _subject(asked: str) -> str:
    kind, _colon, number = asked.partition(":")
    return f"{kind_words(kind)} {number}".strip()
