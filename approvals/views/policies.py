"""The rules of each kind: in force, before, and being changed. Read by directors, admins and auditors."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Person, Role
from accounts.policies import has_role
from approvals import services
from approvals.errors import MeanwhileChanged
from approvals.kinds import Kind, kinds
from approvals.models import PolicyVersion
from approvals.policies import require_policy_editor, require_policy_reader
from approvals.policy_editor import Editor, compared, mark_of
from approvals.policy_facts import PolicyFact, policy_facts
from approvals.policy_form import ReasonForm, ReviewForm
from approvals.rule_words import condition_words, difference, path_words, people_in, rule_title
from approvals.rules import Rules
from approvals.selectors import last_review, policy_versions
from approvals.views.frame import framed
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from kernel.ids import id_in

HISTORY_SHOWN = 20


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Every kind with the rules in force, and whether they were looked at this quarter."""
    person, now = require_policy_reader(request.user), clock.now()
    facts = policy_facts()
    people = people_in(*(fact.rules for fact in facts))
    rows = [
        {"fact": fact, "rules": _in_words(fact.rules, people), "is_overdue": fact.is_overdue(now)} for fact in facts
    ]
    context = {"rows": rows, "may_change": has_role(person, Role.ADMIN)}
    return render(request, "approvals/policies.html", framed(person, "policies", context))


class Policy(View):
    """One kind. Readers read; an admin edits, looks at what the rules would have done, and puts them into force."""

    def get(self, request: HttpRequest, kind: str) -> HttpResponse:
        person, found = require_policy_reader(request.user), _kind(kind)
        editor = Editor(found, services.policy_in_force(found.name), person)
        editor.open()
        return _page(request, editor)

    def post(self, request: HttpRequest, kind: str) -> HttpResponse:
        """``act``: a button of a row, ``preview``, or ``save``, which does it only for what was previewed."""
        person, found = require_policy_editor(request.user), _kind(kind)
        editor = Editor(found, _opened(request, found), person)
        act = request.POST.get("act", "preview")
        if act not in ("preview", "save"):
            editor.arrange(request.POST, act)
            return _page(request, editor)
        editor.judge(request.POST)
        if editor.rules is None:
            return _page(request, editor, status=422)
        if act == "preview" or request.POST.get("previewed") != mark_of(editor.rules):
            return _page(request, editor, {"reason": ReasonForm(initial={"reason": request.POST.get("reason", "")})})
        return _save(request, editor, editor.rules)


@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, kind: str) -> HttpResponse:
    """Asks for a note, then puts on record that the rules still hold."""
    person, found = require_policy_editor(request.user), _kind(kind)
    policy = services.policy_in_force(found.name)
    back = reverse("approvals:policy", args=[found.name])
    if request.method == "POST":
        seen = id_in(request.POST.get("seen", "")) or policy.number
        note = request.POST.get("note", "")[:2000]
        services.policy_review(actor=person, kind=found.name, seen=seen, note=note)
        messages.success(request, _("On record: the rules were looked at and still hold."))
        return redirect(back)
    context = {
        "action": f"{request.path}",
        "title": _("Do the rules for “%(kind)s” still hold?") % {"kind": found.label},
        "text": _("Version %(number)s. It is recorded that you looked at the rules today.") % {"number": policy.number},
        "fields": ReviewForm(),
        "label": _("Still holds"),
        "cancel_url": back,
    }
    return ask(request, context)


def _save(request: HttpRequest, editor: Editor, rules: Rules) -> HttpResponse:
    form = ReasonForm(request.POST)
    more: dict[str, Any] = {"reason": form}
    if not form.is_valid():
        return _page(request, editor, more, status=422)
    try:
        new = services.policy_set(
            actor=editor.asker,
            kind=editor.kind.name,
            rules=rules,
            seen=id_in(request.POST.get("seen", "")) or editor.policy.number,
            reason=form.cleaned_data["reason"],
        )
    except Invalid as refusal:
        add_errors(form, refusal)
        return _page(request, editor, more, status=422)
    except MeanwhileChanged as refusal:
        return _overtaken(request, editor, more, refusal)
    words = {"kind": editor.kind.label, "number": new.number}
    messages.success(request, _("Version %(number)s of the rules for “%(kind)s” is in force.") % words)
    return redirect("approvals:policy", editor.kind.name)


def _overtaken(request: HttpRequest, editor: Editor, more: dict[str, Any], refusal: MeanwhileChanged) -> HttpResponse:
    """What they changed stands above; what was typed stays, and saving it once more is then meant so."""
    newest = services.policy_in_force(editor.kind.name)
    before, after = editor.policy.parsed, newest.parsed
    changed = difference(before, after, people_in(before, after))
    context = {**more, "happened": refusal.data["happened"], "overtaken_by": newest, "changed": changed}
    return _page(request, editor, context, status=409)


def _page(request: HttpRequest, editor: Editor, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    person, now, kind = editor.asker, clock.now(), editor.kind
    in_force = services.policy_in_force(kind.name)
    fact = PolicyFact(kind, in_force, last_review(kind.name))
    history = _history(kind.name)
    context: dict[str, Any] = {
        "kind": kind,
        "fact": fact,
        "is_overdue": fact.is_overdue(now),
        "editor": editor,
        "seen": in_force.number if status == 409 else id_in(request.POST.get("seen", "")) or editor.policy.number,
        "may_change": has_role(person, Role.ADMIN),
        "rules": _in_words(in_force.parsed, people_in(in_force.parsed)),
        "history": history,
        **(more or {}),
    }
    if editor.rules is not None:
        people = people_in(editor.policy.parsed, editor.rules)
        context["comparison"] = compared(kind, editor.rules, now)
        context["previewed"] = mark_of(editor.rules)
        context["difference"] = difference(in_force.parsed, editor.rules, people)
    return render(request, "approvals/policy.html", framed(person, "policies", context), status=status)


def _history(kind: str) -> list[dict[str, Any]]:
    """Versions, newest first, each with how it differs from the one before."""
    versions = list(policy_versions(kind)[: HISTORY_SHOWN + 1])
    people = people_in(*(version.parsed for version in versions))
    before: list[PolicyVersion | None] = [*versions[1:], None]
    return [
        {
            "version": version,
            "lines": difference(old.parsed, version.parsed, people) if old else [],
            "is_first": version.number == 1,
        }
        for version, old in zip(versions, before, strict=True)
    ][:HISTORY_SHOWN]


def _in_words(rules: Rules, people: dict[int, Person]) -> list[dict[str, str]]:
    return [
        {"name": rule_title(rule.name), "conditions": condition_words(rule), "path": path_words(rule, people)}
        for rule in rules
    ]


def _kind(name: str) -> Kind:
    found = {kind.name: kind for kind in kinds()}.get(name)
    if found is None:
        raise NotFound
    return found


def _opened(request: HttpRequest, kind: Kind) -> PolicyVersion:
    """The version whose rules were edited; the one in force where the form names none."""
    number = id_in(request.POST.get("base", ""))
    row = policy_versions(kind.name).filter(number=number or 0).first()
    return row or services.policy_in_force(kind.name)
