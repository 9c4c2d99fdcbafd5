"""The decision page, the panel of the queue that shows the same in brief, and the comments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Role
from accounts.policies import require_signed_in
from approvals.models import Answer, Step
from approvals.rule_words import rule_title
from approvals.selectors import title_of_kind
from approvals.services import approval_comment
from approvals.states import ApprovalState
from kernel.errors import Invalid
from kernel.formats import duration
from kernel.forms import add_errors
from portal.pages.approval.forms import AnswerForm, CommentForm
from portal.pages.approval.kinds import shown_as
from portal.pages.approval.path import path_of
from portal.pages.approval.sight import Sight, sight_of

MOST_TALK_IN_PEEK = 2


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer was not taken. ``lines``: what happened or changed meanwhile; ``fit``: what would fit."""

    title: str
    lines: tuple[str, ...] = ()
    status: int = 409
    is_about_free: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the forms of the page; ``seen`` in place of the content as it was submitted."""

    answer: AnswerForm = field(default_factory=AnswerForm)
    comment: CommentForm = field(default_factory=CommentForm)
    refusal: Refusal | None = None
    seen: str = ""

    def kept(self, sight: Sight) -> str:
        """What was typed with an answer that came too late, where there is no answer to give any more: it can still be
        said as a comment."""
        return "" if sight.may_vote or not self.answer.is_bound else str(self.answer["comment"].value() or "")


@require_GET
def show(request: HttpRequest, approval_id: int) -> HttpResponse:
    """The page at ``/approvals/<id>``."""
    return page(request, sight_of(require_signed_in(request.user), approval_id))


def page(request: HttpRequest, sight: Sight, typed: Typed | None = None) -> HttpResponse:
    """The page as it stands now, with what was typed and why it was not taken."""
    given = typed or Typed()
    refusal = given.refusal
    has_faults = given.answer.errors or given.comment.errors
    status = refusal.status if refusal else 422 if has_faults else 200
    return render(request, "portal/approval/page.html", context_of(sight, given), status=status)


def context_of(sight: Sight, given: Typed) -> Mapping[str, Any]:
    """What the templates of page and panel draw."""
    approval, shown = sight.approval, shown_as(sight.approval.kind)
    evidence = shown.evidence(sight)
    return {
        "approval": approval,
        "sight": sight,
        "shown": shown,
        "evidence": evidence,
        "kind": title_of_kind(approval),
        "state": state_of(sight),
        "stops": path_of(sight),
        "step_after": next_words(sight.next_step),
        "approve_words": _approve_words(sight, shown.grant_words()),
        "outcome": _outcome(sight),
        "may_withdraw": sight.is_asker and approval.is_open and shown.can_withdraw(approval),
        "form": given.answer,
        "comment_form": given.comment,
        "kept": given.kept(sight),
        "refusal": given.refusal,
        "seen": given.seen or evidence.content or approval.content,
    }


@require_GET
def peek(request: HttpRequest, approval_id: int) -> HttpResponse:
    """``/approvals/<id>/peek``: the panel beside the queue; without htmx the page itself."""
    sight = sight_of(require_signed_in(request.user), approval_id)
    if not request.headers.get("HX-Request"):
        return redirect("approval", approval_id)
    context = {**context_of(sight, Typed()), "latest": sight.talk[-MOST_TALK_IN_PEEK:], "is_peek": True}
    return render(request, "portal/approval/peek.html", context)


@require_POST
def comment(request: HttpRequest, approval_id: int) -> HttpResponse:
    """Say something; whoever may see the approval may."""
    person = require_signed_in(request.user)
    form = CommentForm(request.POST)
    if form.is_valid():
        try:
            approval_comment(actor=person, approval_id=approval_id, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("Your comment is kept."))
            return redirect("approval", approval_id)
    return page(request, sight_of(person, approval_id), Typed(comment=form))


@dataclass(frozen=True, slots=True)
class State:
    """The chip beside the title."""

    key: str
    word: str


def state_of(sight: Sight) -> State:
    """Where it stands and, while it is open, for how long."""
    approval = sight.approval
    state = ApprovalState(approval.state)
    if not approval.is_open:
        return State(state, "")
    waits = duration((sight.now - sight.waits_since).total_seconds())
    if state == ApprovalState.RETURNED:
        returned = next((vote.at for vote in reversed(sight.votes) if vote.answer == Answer.RETURN), sight.now)
        waits = duration((sight.now - returned).total_seconds())
        words = _("Waits for your answer, %(length)s") if sight.is_asker else _("Asked back, %(length)s")
        return State("returned", words % {"length": waits})
    words = _("Waits for you, %(length)s") if sight.may_vote else _("Waits, %(length)s")
    return State("submitted", words % {"length": waits})


_NEXT = {
    Role.DIRECTOR.value: lambda: _("a director"),
    Role.ADMIN.value: lambda: _("a platform admin"),
}


def next_words(step: Step | None) -> str:
    """Who decides after this: ``a director``; empty where this is the last."""
    if step is None:
        return ""
    roles = [_NEXT[role]() for role in sorted(step.roles) if role in _NEXT]
    return _(" or ").join(roles) or _("the next step")


def _approve_words(sight: Sight, grant: str) -> str:
    """What follows from an approval, on its button."""
    after = next_words(sight.next_step)
    return _("Approve, pass to %(who)s") % {"who": after} if after else grant


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: by whom, and what they said."""

    title: str
    by: str
    comment: str
    tone: str


def _outcome(sight: Sight) -> Outcome | None:
    """None while it is open."""
    approval = sight.approval
    if approval.is_open:
        return None
    last = next((vote for vote in reversed(sight.votes) if vote.lapsed_at is None), None)
    if approval.state == ApprovalState.WITHDRAWN:
        return Outcome(_("Withdrawn before it was decided"), "", "", "none")
    by = str(last.person) if last else _("The policy, rule “%(rule)s”") % {"rule": rule_title(approval.rule)}
    if last and last.on_behalf_of:
        by = _("%(person)s for %(principal)s") % {"person": last.person, "principal": last.on_behalf_of}
    said = last.comment if last else ""
    if approval.state == ApprovalState.REJECTED:
        return Outcome(_("Refused"), by, said, "bad")
    return Outcome(_("Approved, less than asked") if approval.changes else _("Approved"), by, said, "ok")
