"""The milestones of a project, and the answer to each: met, not met after all, another day."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.policies import require_signed_in
from kernel import clock, formats, toasts
from kernel.calendar import local_day
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from projects import services
from projects.forms import MilestoneDayForm
from projects.models import Milestone, Project
from projects.selectors import MilestoneFact
from projects.views.frame import framed, opened, title

BACK = {"home": ("home", False), "project": ("project", True), "milestones": ("projects:milestones", True)}
"""Where one may have come from: the name of the page, and whether it is one of this project."""


@require_GET
def listing(request: HttpRequest, project_id: int) -> HttpResponse:
    """Every milestone with its day, as it was first planned, and when it was met."""
    detail = opened(request, project_id)
    return render(request, "projects/milestones.html", framed(request, detail, "milestones"))


@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, project_id: int, milestone_id: int, act: str) -> HttpResponse:
    """A POST without a day means today; a GET asks for the day. ``back`` names the page to return to."""
    detail = opened(request, project_id, "edit")
    row = next((row for row in detail.milestones if row.id == milestone_id), None)
    if row is None:
        raise NotFound
    has_day = act == "move" or "day" in request.POST or request.method == "GET"
    form = MilestoneDayForm(request.POST if request.method == "POST" else None, initial={"day": _usual_day(act, row)})
    if request.method == "POST" and (not has_day or form.is_valid()):
        try:
            done = _do(request, project_id, milestone_id, act, form.cleaned_data if has_day else {})
        except Invalid as refusal:
            for sentences in refusal.errors.values():
                form.add_error("day", forms.ValidationError(list(sentences)))
        else:
            back = request.POST.get("back") or request.GET.get("back", "")
            undo = reverse("projects:milestone", args=[project_id, milestone_id, _way_back(act, row)])
            toasts.undoable(request, _said(act, done), url=undo, fields={"back": back, **_as_it_was(act, row)})
            return redirect(_back(request, project_id))
    return _ask(request, act, row, form, detail.project)


def _back(request: HttpRequest, project_id: int) -> str:
    name, is_own = BACK.get(request.POST.get("back") or request.GET.get("back", ""), BACK["project"])
    return reverse(name, args=[project_id] if is_own else [])


def _do(request: HttpRequest, project_id: int, milestone_id: int, act: str, given: Mapping[str, Any]) -> Milestone:
    person, here = require_signed_in(request.user), {"project_id": project_id, "milestone_id": milestone_id}
    if act == "met":
        return services.milestone_meet(actor=person, on=given.get("day"), **here)
    if act == "reopen":
        return services.milestone_reopen(actor=person, **here)
    return services.milestone_move(actor=person, due_on=given["day"], **here)


def _way_back(act: str, row: MilestoneFact) -> str:
    """The act that makes it as it was."""
    if act == "move":
        return "move"
    return "met" if row.met_on else "reopen"


def _as_it_was(act: str, row: MilestoneFact) -> dict[str, str]:
    day = row.due_on if act == "move" else row.met_on
    return {"day": day.isoformat()} if day else {}


def _usual_day(act: str, row: MilestoneFact) -> Any:
    return row.due_on if act == "move" else local_day(clock.now())


def _said(act: str, row: Milestone) -> str:
    if act == "reopen":
        return _("“%(milestone)s” is open again.") % {"milestone": row.name}
    day = formats.day(row.met_on if act == "met" and row.met_on else row.due_on)
    if act == "met":
        return _("“%(milestone)s” was met on %(day)s.") % {"milestone": row.name, "day": day}
    return _("“%(milestone)s” is due on %(day)s.") % {"milestone": row.name, "day": day}


def _ask(request: HttpRequest, act: str, row: MilestoneFact, form: MilestoneDayForm, project: Project) -> HttpResponse:
    words = {"milestone": row.name}
    asked = {
        "met": (_("When was “%(milestone)s” met?"), "", _("Met on this day")),
        "move": (
            _("When is “%(milestone)s” due?"),
            _("A day later than first planned counts as slipped; the history keeps both."),
            _("Move it"),
        ),
        "reopen": (
            _("Open “%(milestone)s” again?"),
            _("It counts as not met; the history keeps both."),
            _("Open again"),
        ),
    }
    question, text, label = asked[act]
    context = {
        "title": question % words,
        "text": text,
        "affected": [title(project)],
        "fields": [] if act == "reopen" else form,
        "label": label,
        "action": request.get_full_path(),
        "cancel_url": _back(request, project.pk),
    }
    return ask(request, context)
