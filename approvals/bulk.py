"""Many at once: what a decision would do to each, which of them cannot be decided so, and why.

Approving is looked at together: of what grows a guarantee of one GPU model, in the order in which answers are due,
only as much is taken as is free. Everything is judged again, under lock, when it is done.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.deciders import Decider, current_steps, deciders, excluded, people_now, steps_ahead
from approvals.errors import MeanwhileChanged, NotYours, OwnRequest
from approvals.kinds import QueueRow, contents_shown
from approvals.models import Approval, Step
from approvals.policies import visible_to
from approvals.queue import shown_rows, step_words
from approvals.selectors import happened_since
from approvals.states import ApprovalState

APPROVE, REJECT, RETURN, COMMENT = "approve", "reject", "return", "comment"
MOST = 300


@dataclass(frozen=True, slots=True)
class Prospect:
    """One of the selected. ``why`` says why it is left out; empty: it is done, as it stands now."""

    approval: Approval
    shown: QueueRow
    follows: str
    content: str
    """The hash of what is shown."""
    why: str = ""
    happened: Sequence[str] = ()

    @property
    def seen(self) -> str:
        """As the form sends it back: exactly what was looked at."""
        return f"{self.approval.pk}:{self.approval.version}:{self.content}"


@dataclass(frozen=True, slots=True)
class Preview:
    """``missing``: how many of the selected this person knows nothing of (any more)."""

    doing: Sequence[Prospect]
    left_out: Sequence[Prospect]
    missing: int
    by_model: Mapping[str, int] = field(default_factory=dict)
    """More GPUs that are guaranteed when all of it is done."""

    @property
    def gpus(self) -> int:
        return sum(self.by_model.values())


@dataclass(slots=True)
class Room:
    """What is free of each model, less what the rows before take."""

    left: dict[str, int] = field(default_factory=dict)

    def refusal(self, shown: QueueRow) -> str:
        """Empty, and the GPUs are taken; else why it does not fit together with the rows before."""
        if shown.free is None or shown.asked_more <= 0:
            return ""
        left = min(self.left.get(shown.gpu_model, shown.free), shown.free)
        if shown.asked_more <= left:
            self.left[shown.gpu_model] = left - shown.asked_more
            return ""
        words = {"asked": shown.asked_more, "left": left, "free": shown.free}
        if shown.asked_more > shown.free:
            return _("%(asked)s more GPUs are asked for and %(free)s are free.") % words
        return (
            _("With the others selected it does not fit: %(asked)s are asked for, %(left)s of %(free)s are left.")
            % words
        )


def preview(person: Person, answer: str, asked: Mapping[int, int | None], now: datetime) -> Preview:
    """``asked``: by approval the version that the reader looked at, None: whatever it is now.

    A constant number of statements, and two for each that has changed since.
    """
    rows = list(visible_to(person).filter(pk__in=list(asked)).select_related("requester", "policy"))
    rows.sort(key=lambda row: (row.due_at is None, row.due_at or now, row.pk))
    shown, contents = shown_rows(rows, now), contents_shown(rows)
    reasons = _reasons(person, rows, asked) if answer != COMMENT else {}
    follows = _follows(rows, answer)
    room, found = Room(), []
    for row in rows:
        why, happened = reasons.get(row.pk, ("", ()))
        if answer == APPROVE and not why:
            why = room.refusal(shown[row.pk])
        found.append(Prospect(row, shown[row.pk], follows[row.pk], contents[row.pk], why, happened))
    doing = [one for one in found if not one.why]
    by_model: Counter[str] = Counter()
    for one in doing if answer == APPROVE else ():
        by_model[one.shown.gpu_model] += max(one.shown.asked_more, 0)
    grown = {model: gpus for model, gpus in sorted(by_model.items()) if gpus}
    return Preview(doing, [one for one in found if one.why], len(asked) - len(rows), grown)


def _reasons(
    person: Person, rows: Sequence[Approval], asked: Mapping[int, int | None]
) -> dict[int, tuple[str, Sequence[str]]]:
    """Why each cannot be decided by this person as it was looked at; those that can have none."""
    people, steps = people_now(), current_steps(rows)
    able, out = deciders(rows, steps, people), excluded(rows, people)
    found: dict[int, tuple[str, Sequence[str]]] = {}
    for row in rows:
        version = asked[row.pk]
        if row.state != ApprovalState.WAITING or version not in (None, row.version):
            found[row.pk] = (str(MeanwhileChanged.title), happened_since(row, version or 0))
        elif not _is_among(person, able[row.pk]):
            refusal = OwnRequest if person.pk in out[row.pk] else NotYours
            found[row.pk] = (str(refusal.title), ())
    return found


def _is_among(person: Person, able: Sequence[Decider]) -> bool:
    return any(decider.person_id == person.pk for decider in able)


def _follows(rows: Sequence[Approval], answer: str) -> dict[int, str]:
    """What comes after it, in words."""
    if answer != APPROVE:
        words = {
            REJECT: _("it ends; who asked is told why"),
            RETURN: _("it goes back to who asked, with the question"),
            COMMENT: _("whoever takes part reads it"),
        }
        return {row.pk: words[answer] for row in rows}
    ahead = steps_ahead(rows)
    people = _named(ahead)
    return {row.pk: _after(ahead.get(row.pk, ()), people) for row in rows}


def _after(steps: Sequence[Step], people: Mapping[int, Person]) -> str:
    rest = [step_words(step, people) for step in steps[1:]]
    if not rest:
        return _("it takes effect at once")
    return _("then it goes to: %(who)s") % {"who": ", ".join(rest)}


def _named(ahead: Mapping[int, Sequence[Step]]) -> dict[int, Person]:
    ids = {pk for steps in ahead.values() for step in steps for pk in step.people}
    return Person.objects.in_bulk(sorted(ids)) if ids else {}
