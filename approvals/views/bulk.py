"""Many at once: looked at first, done by one confirmation, with what became of each."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views import View

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.bulk import APPROVE, COMMENT, MOST, REJECT, RETURN, preview
from approvals.services import Ballot, Verdict, approvals_vote_many
from approvals.services.many import approvals_comment_many
from approvals.services.voting import MOST_COMMENT
from approvals.waiting_count import forget
from kernel import clock
from kernel.errors import Invalid
from kernel.ids import id_in


class Bulk(View):
    """``?ids=12:3&ids=15`` names approvals, with the version that was looked at where the page knows it."""

    def get(self, request: HttpRequest, answer: str) -> HttpResponse:
        return _page(request, require_signed_in(request.user), answer, _asked(request.GET.getlist("ids")))

    def post(self, request: HttpRequest, answer: str) -> HttpResponse:
        """What the preview named, and nothing else: each in a unit of its own, with the version that was shown."""
        person = require_signed_in(request.user)
        seen, comment = _seen(request.POST.getlist("seen")), request.POST.get("comment", "").strip()
        error = _comment_error(answer, comment)
        if error or not seen:
            asked = {pk: version for pk, (version, _content) in seen.items()} or _asked(request.GET.getlist("ids"))
            return _page(request, person, answer, asked, error or _("Nothing was selected."))
        verdicts = _do(person, answer, seen, comment)
        forget(person.pk)
        done = [verdict for verdict in verdicts if not verdict.refused]
        context = {
            **_words(answer),
            "verdicts": [verdict for verdict in verdicts if verdict.refused],
            "done": done,
            "answer": answer,
        }
        return render(request, "approvals/bulk_done.html", context)


def _do(person: Person, answer: str, seen: Mapping[int, tuple[int, str]], comment: str) -> list[Verdict]:
    if answer == COMMENT:
        return approvals_comment_many(actor=person, approval_ids=list(seen), text=comment)
    votes = [(pk, Ballot(answer, version, content, comment)) for pk, (version, content) in seen.items()]
    return approvals_vote_many(actor=person, votes=votes)


def _page(
    request: HttpRequest, person: Person, answer: str, asked: Mapping[int, int | None], error: str = ""
) -> HttpResponse:
    context: dict[str, Any] = {
        **_words(answer),
        "answer": answer,
        "count": len(asked),
        "preview": preview(person, answer, asked, clock.now()) if asked else None,
        "needs_comment": answer != APPROVE,
        "comment": request.POST.get("comment", ""),
        "error": error,
        "most": MOST,
        "most_comment": MOST_COMMENT,
        "ids": request.GET.urlencode(),
    }
    return render(request, "approvals/bulk.html", context, status=422 if error else 200)


def _words(answer: str) -> dict[str, str]:
    titles = {
        APPROVE: (_("Approve"), _("Reason")),
        REJECT: (_("Refuse"), _("Why it is refused")),
        RETURN: (_("Ask back"), _("Question")),
        COMMENT: (_("Comment"), _("Comment")),
    }
    return {"title": titles[answer][0], "label": titles[answer][1]}


def _comment_error(answer: str, comment: str) -> str:
    if answer != APPROVE and not comment:
        return _("Say why: it is kept and shown to who asked.") if answer != COMMENT else _("Write the comment.")
    if len(comment) > MOST_COMMENT:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        return text % {"count": len(comment), "most": MOST_COMMENT}
    return ""


def _asked(sent: Sequence[str]) -> dict[int, int | None]:
    """``12:3`` or ``12`` for each. Raises ``Invalid`` for anything else."""
    found: dict[int, int | None] = {}
    for line in sent[:MOST]:
        number, colon, version = line.partition(":")
        pk, known = id_in(number), id_in(version)
        if pk is None or (colon and known is None):
            raise _unreadable(line)
        found[pk] = known
    return found


def _seen(sent: Sequence[str]) -> dict[int, tuple[int, str]]:
    """``12:3:abc…`` for each. Raises ``Invalid`` for anything else."""
    found = {}
    for line in sent[:MOST]:
        number, _colon, rest = line.partition(":")
        version, _colon, content = rest.partition(":")
        pk, known = id_in(number), id_in(version)
        if pk is None or known is None:
            raise _unreadable(line)
        found[pk] = (known, content)
    return found


def _unreadable(line: str) -> Invalid:
    return Invalid({"ids": _("“%(line)s” names no approval.") % {"line": line[:60]}})
