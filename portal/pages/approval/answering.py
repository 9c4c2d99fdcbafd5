"""The answers: approve, approve less, ask, refuse, hand on; and who asked takes it back.

Every answer names the version and the content it was given on. One that comes too late, or twice, decides nothing
and shows what happened meanwhile, with the comment kept.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.errors import ContentDiffers, MeanwhileChanged, NotYours
from approvals.kinds import kind_named
from approvals.models import Answer, Approval
from approvals.services import Ballot, approval_hand_on, approval_vote
from approvals.states import ApprovalState
from approvals.waiting_count import forget
from kernel.dialogs import ask
from kernel.errors import Conflict, Forbidden, Invalid, NotFound, PortalError
from kernel.forms import add_errors
from kernel.ids import id_in
from portal.pages.approval.forms import AnswerForm, HandOnForm, RefuseForm, WithdrawForm
from portal.pages.approval.kinds import LessAsked, shown_as
from portal.pages.approval.pages import Refusal, Typed, page
from portal.pages.approval.sight import Sight, sight_of
from quotas.errors import ExceedsFree

SAID = {
    Answer.APPROVE: lambda: _("Approved: %(title)s"),
    Answer.REJECT: lambda: _("Refused: %(title)s"),
    Answer.RETURN: lambda: _("Asked back: %(title)s"),
}


@require_POST
def vote(request: HttpRequest, approval_id: int) -> HttpResponse:
    """The buttons of the page and of the panel beside the queue."""
    person = require_signed_in(request.user)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return page(request, sight_of(person, approval_id), Typed(answer=form))
    return _cast(request, approval_id, form, form.ballot())


def _cast(request: HttpRequest, approval_id: int, form: AnswerForm, ballot: Ballot) -> HttpResponse:
    person = require_signed_in(request.user)
    try:
        approval = approval_vote(actor=person, approval_id=approval_id, ballot=ballot)
    except (NotFound, Forbidden):
        raise
    except PortalError as error:
        return _refused(request, approval_id, form, error)
    forget(person.pk)
    messages.success(request, _said(approval, ballot))
    if request.POST.get("from") == "queue":
        return redirect("approvals:list")
    return redirect("approval", approval_id)


def _said(approval: Approval, ballot: Ballot) -> str:
    if approval.state == ApprovalState.WAITING:
        return _("Passed on: %(title)s") % {"title": approval.title}
    return SAID[Answer(ballot.answer)]() % {"title": approval.title}


def _refused(request: HttpRequest, approval_id: int, form: AnswerForm, error: PortalError) -> HttpResponse:
    """The page as it stands now, with the typed comment; raises what the page cannot say."""
    sight = sight_of(require_signed_in(request.user), approval_id)
    typed = Typed(answer=form)
    if isinstance(error, ExceedsFree):
        refusal = Refusal(_("It does not fit any more. Nothing was decided."), _sentences(error), 422, True)
        return page(request, sight, replace(typed, refusal=refusal))
    if isinstance(error, Invalid):
        add_errors(form, error)
        return page(request, sight, typed)
    if isinstance(error, Conflict):
        refusal, seen = _conflict(sight, error)
        return page(request, sight, replace(typed, refusal=refusal, seen=seen))
    raise error


def _sentences(error: Invalid) -> tuple[str, ...]:
    return tuple(text for texts in error.errors.values() for text in texts)


def _conflict(sight: Sight, error: Conflict) -> tuple[Refusal, str]:
    """What happened meanwhile; and the content as it stands, so that the next answer is given on that."""
    if isinstance(error, MeanwhileChanged):
        happened = tuple(str(line) for line in error.data.get("happened", ()))
        return Refusal(str(error.title), happened), ""
    if isinstance(error, ContentDiffers):
        changed = ", ".join(_field_words(sight, error.data.get("changed", ())))
        lines = (_("Changed: %(fields)s. This is how it stands now.") % {"fields": changed},) if changed else ()
        return Refusal(str(error.title), lines), str(error.data.get("content", ""))
    return Refusal(error.message), ""


def _field_words(sight: Sight, fields: Any) -> list[str]:
    word = kind_named(sight.approval.kind).field_word
    return [word(str(name)) for name in fields]


class _Act(View):
    """An act that asks first: the question as a dialog or as a page, then the deed."""

    def get(self, request: HttpRequest, approval_id: int) -> HttpResponse:
        sight = self.sight(request, approval_id)
        return ask(request, self.words(sight, self.form(sight, None)))

    def post(self, request: HttpRequest, approval_id: int) -> HttpResponse:
        sight = sight_of(require_signed_in(request.user), approval_id)
        self.judge(sight, request.POST.get("version", ""))
        form = self.form(sight, request.POST)
        if form.is_valid():
            answer = self.act(request, sight, form)
            if answer is not None:
                return answer
        return ask(request, self.words(sight, form))

    def judge(self, sight: Sight, version: str) -> None:
        """Raises ``NotYours`` where the reader may not vote on what they saw. Who is late hears what happened."""
        is_late = id_in(version) not in (None, sight.approval.version)
        if sight.approval.is_open and not sight.may_vote and not is_late:
            raise NotYours

    def sight(self, request: HttpRequest, approval_id: int) -> Sight:
        """Raises ``NotFound``, and ``NotYours`` where the reader may not vote."""
        sight = sight_of(require_signed_in(request.user), approval_id)
        if not sight.may_vote:
            raise NotYours if sight.approval.is_open else Conflict(_("This is decided already."))
        return sight

    def form(self, sight: Sight, data: Mapping[str, Any] | None) -> Form:
        raise NotImplementedError

    def words(self, sight: Sight, form: Form) -> dict[str, Any]:
        raise NotImplementedError

    def act(self, request: HttpRequest, sight: Sight, form: Form) -> HttpResponse | None:
        raise NotImplementedError

    def asked(self, sight: Sight, form: Form, name: str, **words: Any) -> dict[str, Any]:
        """What the question shows, whatever the act."""
        there = [sight.approval.pk]
        return {
            "fields": form,
            "action": reverse(name, args=there),
            "cancel_url": reverse("approval", args=there),
            **words,
        }

    def cast(self, request: HttpRequest, sight: Sight, form: Form, ballot: Ballot) -> HttpResponse | None:
        """Vote; what can be put at a field of the question is, and anything else is shown on the page."""
        plain = {"answer": ballot.answer, "version": ballot.version, "seen": ballot.seen, "comment": ballot.comment}
        on_page = AnswerForm(plain)
        on_page.is_valid()
        try:
            approval = approval_vote(actor=sight.person, approval_id=sight.approval.pk, ballot=ballot)
        except (NotFound, Forbidden):
            raise
        except Invalid as error:
            add_errors(form, error)
            return None
        except PortalError as error:
            return _refused(request, sight.approval.pk, on_page, error)
        forget(sight.person.pk)
        messages.success(request, _said(approval, ballot))
        return redirect("approval", sight.approval.pk)


def _on(sight: Sight) -> dict[str, Any]:
    """What an answer is given on."""
    return {"version": sight.approval.version, "seen": sight.seen}


class Refuse(_Act):
    """Refuse, with the reason."""

    def form(self, sight: Sight, data: Mapping[str, Any] | None) -> Form:
        return RefuseForm(data, initial=_on(sight))

    def words(self, sight: Sight, form: Form) -> dict[str, Any]:
        title = _("Refuse “%(title)s”?") % {"title": sight.approval.title}
        text = _("It is over then; who asked may ask anew. What they should change is better asked back.")
        return self.asked(sight, form, "approval-refuse", title=title, text=text, label=_("Refuse"), danger=True)

    def act(self, request: HttpRequest, sight: Sight, form: Form) -> HttpResponse | None:
        given = form.cleaned_data
        return self.cast(request, sight, form, Ballot("reject", given["version"], given["seen"], given["comment"]))


class Less(_Act):
    """Approve less than was asked; only less, so that votes that were given stay true."""

    def form(self, sight: Sight, data: Mapping[str, Any] | None) -> Form:
        wished = id_in(self.request.GET.get("guaranteed", ""))
        given = {**_on(sight), **({} if wished is None else {"guaranteed": wished})}
        form = shown_as(sight.approval.kind).less_form(sight, data, given)
        if form is None:
            raise Conflict(_("There is no less of this: it is approved as it is, asked back or refused."))
        return form

    def words(self, sight: Sight, form: Form) -> dict[str, Any]:
        title = _("Approve less of “%(title)s”") % {"title": sight.approval.title}
        return self.asked(sight, form, "approval-less", title=title, label=_("Approve this"))

    def act(self, request: HttpRequest, sight: Sight, form: Form) -> HttpResponse | None:
        given, changes = form.cleaned_data, form.changes() if isinstance(form, LessAsked) else {}
        ballot = Ballot("approve", given["version"], given["seen"], given["comment"], changes)
        return self.cast(request, sight, form, ballot)


class HandOn(_Act):
    """Ask somebody else to decide this one."""

    def sight(self, request: HttpRequest, approval_id: int) -> Sight:
        sight = super().sight(request, approval_id)
        if not sight.may_hand_on:
            raise NotYours
        return sight

    def form(self, sight: Sight, data: Mapping[str, Any] | None) -> Form:
        return HandOnForm(data, initial={"version": sight.approval.version})

    def words(self, sight: Sight, form: Form) -> dict[str, Any]:
        title = _("Hand on “%(title)s”") % {"title": sight.approval.title}
        text = _("The other hears of it at once and may decide this one, and no other, instead of you.")
        return self.asked(sight, form, "approval-hand-on", title=title, text=text, label=_("Hand on"))

    def act(self, request: HttpRequest, sight: Sight, form: Form) -> HttpResponse | None:
        given = form.cleaned_data
        other: Person = given["to"]
        try:
            approval_hand_on(
                actor=sight.person,
                approval_id=sight.approval.pk,
                to_id=other.pk,
                comment=given["comment"],
                version=given["version"],
            )
        except Invalid as error:
            add_errors(form, error)
            return None
        except Conflict as error:
            return page(request, sight_of(sight.person, sight.approval.pk), Typed(refusal=Refusal(error.message)))
        except NotYours as error:
            if not sight.may_hand_on:
                raise
            form.add_error("to", error.message)
            return None
        messages.success(request, _("%(person)s may decide this one, too.") % {"person": other})
        return redirect("approval", sight.approval.pk)


class Withdraw(_Act):
    """Who asked takes it back."""

    def judge(self, sight: Sight, version: str) -> None:
        """Whatever version they saw: it is theirs."""
        if not sight.is_asker:
            raise Forbidden(_("Only who asked takes it back."))

    def sight(self, request: HttpRequest, approval_id: int) -> Sight:
        sight = sight_of(require_signed_in(request.user), approval_id)
        self.judge(sight, "")
        if not sight.approval.is_open:
            raise Conflict(_("This is decided already."))
        if not shown_as(sight.approval.kind).can_withdraw(sight.approval):
            raise Conflict(_("It cannot be taken back as it stands."))
        return sight

    def form(self, sight: Sight, data: Mapping[str, Any] | None) -> Form:
        return WithdrawForm(data)

    def words(self, sight: Sight, form: Form) -> dict[str, Any]:
        title = _("Withdraw “%(title)s”?") % {"title": sight.approval.title}
        text = _("Nobody decides on it any more; those who would have hear of it.")
        return self.asked(sight, form, "approval-withdraw", title=title, text=text, label=_("Withdraw"))

    def act(self, request: HttpRequest, sight: Sight, form: Form) -> HttpResponse | None:
        there = self.sight(request, sight.approval.pk)
        shown_as(there.approval.kind).withdraw(there.person, there.approval, form.cleaned_data["reason"])
        messages.success(request, _("Withdrawn: %(title)s") % {"title": there.approval.title})
        return redirect("approval", there.approval.pk)
