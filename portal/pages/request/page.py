"""The page of a request: what was asked, what was granted, and what may be done with it now.

One truth in two places would be two: path, votes and conversation stand on the decision page (``/approvals/<id>``),
which this one links to as soon as there is something to decide; what the request itself is, stands here, from the
draft on.
"""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.services.voting import MOST_COMMENT
from kernel.calendar import local_day
from kernel.dialogs import ask
from kernel.errors import NotFound
from kernel.formats import day, number
from portal.pages.request.totals import last_day
from projects import policies
from quotas.models import QuotaRequest
from quotas.requests.selectors import approval_of, can_now, open_question, visible_requests
from quotas.services.requests import request_clone, request_discard, request_withdraw
from quotas.states import RequestState


class WithdrawForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MOST_COMMENT, required=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One part of what was asked beside what was granted; ``granted`` None: nothing was granted yet."""

    word: str
    asked: str
    granted: str | None = None

    @property
    def is_other(self) -> bool:
        return self.granted is not None and self.granted != self.asked


@require_GET
def show(request: HttpRequest, request_id: int) -> HttpResponse:
    """The page at ``/quota-requests/<id>``."""
    person, row = _seen(request, request_id)
    approval = approval_of(row)
    context: dict[str, Any] = {
        "row": row,
        "project": row.project,
        "lines": lines_of(row),
        "can": can_now(person, row),
        "approval": approval,
        "steps": list(approval.steps.filter(round=approval.round).order_by("number")) if approval else [],
        "question": open_question(row),
        "files": list(row.attachments.defer("content")),
        "clones": list(visible_requests(person).filter(cloned_from=row)[:5]),
    }
    return render(request, "portal/request/request.html", context)


@require_http_methods(["GET", "POST"])
def give_up(request: HttpRequest, request_id: int) -> HttpResponse:
    """Asks once; then a draft is discarded, or what is not decided withdrawn."""
    person, row = _seen(request, request_id)
    policies.require(person, "request_quota", row.project)
    is_draft = row.state == RequestState.DRAFT
    form = None if is_draft else WithdrawForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and (form is None or form.is_valid()):
        if form is None:
            request_discard(actor=person, request_id=row.pk)
            messages.success(request, _("The draft is discarded."))
            return redirect("quotas:project", row.project_id)
        request_withdraw(actor=person, request_id=row.pk, reason=form.cleaned_data["reason"])
        messages.success(request, _("Withdrawn. Nobody decides on it any more."))
        return redirect("quota-request", row.pk)
    if is_draft:
        words = (_("Discard this draft?"), _("It was never sent. Its files go with it."), _("Discard"))
    else:
        text = _("Nobody decides on it any more, and those who would have hear of it. What the project has stays.")
        words = (_("Withdraw this request?"), text, _("Withdraw"))
    title, text, label = words
    context = {"title": title, "text": text, "label": label, "danger": True, "action": request.path}
    there = reverse("quota-request", args=[row.pk])
    return ask(request, {**context, "affected": [row.title], "fields": form, "cancel_url": there})


@require_POST
def clone(request: HttpRequest, request_id: int) -> HttpResponse:
    """A new draft that asks for the same, and its form."""
    copy = request_clone(actor=require_signed_in(request.user), request_id=request_id)
    messages.success(request, _("A new draft asks for the same. Its files are left out."))
    return redirect("quota-request-edit", copy.pk)


def lines_of(row: QuotaRequest) -> list[Line]:
    """Asked and granted, side by side."""
    is_granted = row.state == RequestState.APPROVED
    start = _("when it is granted") if row.starts_at is None else day(local_day(row.starts_at))
    begun = _day_of(row.granted_from, "") if row.starts_at is not None else start
    lines = [
        Line(_("Guaranteed"), _gpus(row.guaranteed), _gpus(row.granted_guaranteed) if is_granted else None),
        Line(_("Limit"), _limit(row, row.limit), _limit(row, row.granted_limit) if is_granted else None),
        Line(_("From"), start, begun if is_granted else None),
        Line(_("To"), _last(row, row.ends_at), _last(row, row.granted_ends_at) if is_granted else None),
    ]
    if row.least is not None:
        lines.append(Line(_("Least that helps"), _gpus(row.least)))
    return lines


def _seen(request: HttpRequest, request_id: int) -> tuple[Person, QuotaRequest]:
    person = require_signed_in(request.user)
    row = visible_requests(person).filter(pk=request_id).first()
    if row is None:
        raise NotFound
    return person, row


def _gpus(amount: int | None) -> str:
    return "–" if amount is None else number(amount)


def _limit(row: QuotaRequest, limit: int | None) -> str:
    if row.guaranteed is None:
        return "–"
    return _("no limit") if limit is None else number(limit)


def _day_of(at: Any, otherwise: str) -> str:
    return otherwise if at is None else day(local_day(at))


def _last(row: QuotaRequest, at: Any) -> str:
    last = last_day(at)
    if last is not None:
        return day(last)
    return "–" if row.guaranteed is None else _("until the next review decides")
