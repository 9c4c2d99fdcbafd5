"""The way of an approval in words: who asked, who answered, who may answer now, and who comes after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Role
from approvals.models import Answer, LapseReason, Step, Vote
from approvals.rule_words import rule_title
from approvals.states import ApprovalState
from portal.pages.approval.sight import Sight

NAMED = 3
"""Up to so many people are named; more are counted."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One line of the path. ``note``: what was said; ``lapse``: why the vote no longer counts."""

    icon: str
    tone: str
    title: str
    who: str = ""
    at: datetime | None = None
    note: str = ""
    lapse: str = ""
    is_current: bool = False
    is_ahead: bool = False
    due_at: datetime | None = None
    is_late: bool = False
    hint: str = ""


_LOOKS = {
    Answer.APPROVE: ("ok", "ok"),
    Answer.REJECT: ("failed", "bad"),
    Answer.RETURN: ("comment", "waiting"),
}


def path_of(sight: Sight) -> list[Stop]:
    """In the order in which it happened, then what is to come."""
    approval = sight.approval
    stops = [Stop("ok", "ok", _("Asked"), str(approval.requester), approval.requested_at)]
    for number in range(1, approval.round):
        stops += [_voted(vote) for vote in sight.votes if vote.round == number]
    if approval.round > 1:
        stops.append(Stop("ok", "ok", _("Submitted again"), str(approval.requester), approval.submitted_at))
    if approval.is_automatic:
        stops.append(Stop("bolt", "ok", _("Granted by the policy"), rule_title(approval.rule), approval.decided_at))
    for step in sight.steps:
        if step.round == approval.round:
            stops += _of_step(sight, step)
    if approval.state == ApprovalState.WITHDRAWN:
        stops.append(Stop("closed", "none", _("Withdrawn"), "", approval.decided_at))
    return stops


def _of_step(sight: Sight, step: Step) -> Iterator[Stop]:
    yield from (_voted(vote) for vote in sight.votes if vote.step_id == step.pk)
    if step.passed_at is not None or not sight.approval.is_open:
        return
    if sight.current is not None and step.pk == sight.current.pk:
        yield _waiting(sight, step)
    elif sight.approval.state == ApprovalState.WAITING:
        yield Stop("open", "none", step_title(sight, step), "", is_ahead=True)


def _voted(vote: Vote) -> Stop:
    icon, tone = _LOOKS[Answer(vote.answer)]
    who = str(vote.person)
    if vote.on_behalf_of is not None:
        who = _("%(person)s for %(principal)s") % {"person": who, "principal": vote.on_behalf_of}
    if vote.lapsed_at is not None:
        icon, tone = "closed", "none"
    title = _roles(vote.step.open_to) or str(vote.person)
    label = str(Answer(vote.answer).label)
    return Stop(icon, tone, f"{title}: {label}", who, vote.at, vote.comment, LapseReason.words(vote.lapse_reason))


def _waiting(sight: Sight, step: Step) -> Stop:
    hint = ""
    if step.escalated_at is not None:
        hint = _("overdue: %(roles)s may answer, too") % {"roles": _roles(step.escalate_to)}
    elif step.escalate_to:
        hint = _("left unanswered, then also: %(roles)s") % {"roles": _roles(step.escalate_to)}
    due = step.due_at
    return Stop(
        icon="waiting",
        tone="waiting",
        title=step_title(sight, step),
        who=who_decides(sight),
        is_current=True,
        due_at=due,
        is_late=due is not None and due <= sight.now,
        hint=hint,
    )


def step_title(sight: Sight, step: Step) -> str:
    """Roles, and people by name."""
    named = [str(sight.people[pk]) for pk in step.people if pk in sight.people]
    return _(" or ").join([*([_roles(step.open_to)] if step.open_to else []), *named])


def who_decides(sight: Sight) -> str:
    """Who may answer now: by name where they are few."""
    deciders = sight.line.deciders if sight.line else ()
    if not deciders:
        return _("Nobody can: everybody who could is on the project's side, deactivated or has voted")
    others = [one for one in deciders if one.person_id != sight.person.pk]
    if len(others) == len(deciders):
        return _some([str(sight.people[one.person_id]) for one in others])
    if not others:
        return _("You")
    count = ngettext("You, or one other", "You, or one of %(count)s others", len(others))
    return count % {"count": len(others)}


def _some(people: Sequence[str]) -> str:
    if len(people) <= NAMED:
        return _(" or ").join(people)
    first = ", ".join(people[:NAMED])
    return _("One of %(count)s people: %(first)s and others") % {"count": len(people), "first": first}


def _roles(roles: Sequence[str] | frozenset[str]) -> str:
    return _(" or ").join(str(Role(role).label) for role in sorted(roles))
