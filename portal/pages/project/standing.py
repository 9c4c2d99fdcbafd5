"""What a state that is not active means for a project, and the next step: shown instead of empty tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from approvals.selectors import AnswerTime, answer_time
from kernel import clock
from projects.content import REGISTRATION, missing_for_submit
from projects.history import HistoryItem
from projects.selectors import ProjectDetail
from projects.states import ProjectState
from projects.words import word


@dataclass(frozen=True, slots=True)
class Standing:
    """``reason`` is what was said at the last step, by ``who`` at ``at``; ``missing`` what a draft lacks yet."""

    state: str
    title: str
    text: str
    who: str = ""
    at: datetime | None = None
    reason: str = ""
    missing: Sequence[tuple[str, str]] = ()
    is_asked: bool = False
    """An approver gave it back with a question."""
    typical: AnswerTime | None = None


def standing_of(detail: ProjectDetail, story: Sequence[HistoryItem]) -> Standing | None:
    """None for an active project, which needs no explanation. Two statements at most."""
    state = ProjectState(detail.project.state)
    if state == ProjectState.ACTIVE:
        return None
    last = next((item for item in reversed(story) if item.kind == "state"), None)
    if state == ProjectState.DRAFT:
        return _draft(detail, last)
    title, text = _WORDS[state]()
    typical = answer_time(clock.now(), kind=REGISTRATION) if state == ProjectState.SUBMITTED else None
    if last is None:
        return Standing(state, title, text, typical=typical)
    return Standing(state, title, text, last.who, last.at, last.reason, typical=typical)


def _draft(detail: ProjectDetail, last: HistoryItem | None) -> Standing:
    missing = [(word(field), text) for field, text in missing_for_submit(detail.project).items()]
    if last is not None and last.what == "return":
        title = _("The approver asks before deciding")
        text = _("Answer in the registration, then submit it again.")
        return Standing(ProjectState.DRAFT, title, text, last.who, last.at, last.reason, missing, is_asked=True)
    if missing:
        text = _("It is kept until it is submitted, and gets no GPU before it is approved.")
        return Standing(ProjectState.DRAFT, _("Not submitted yet"), text, missing=missing)
    text = _("Nothing is missing. Once submitted, an admin or a director who is not on the project decides.")
    return Standing(ProjectState.DRAFT, _("Ready to be submitted"), text)


_WORDS = {
    ProjectState.SUBMITTED: lambda: (
        _("Waits for a decision"),
        _("With the admins and directors who are not on the project. Until then the registration is fixed."),
    ),
    ProjectState.REJECTED: lambda: (
        _("Rejected"),
        _("It gets no GPU. Its name is free again: register anew with what was missing."),
    ),
    ProjectState.SUSPENDED: lambda: (
        _("Suspended for now"),
        _("It keeps its quota and its data; nothing of it is launched until an admin resumes it."),
    ),
    ProjectState.CLOSED: lambda: (
        _("Closed for good"),
        _("Its jobs and quota have ended. What it did, cost and found stays readable."),
    ),
}
