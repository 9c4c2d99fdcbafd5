"""The queue as its pages show it: what waits, in groups by answer-by time, filtered, and the figures on top."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Person, Role
from approvals.kinds import QueueRow, by_kind, kind_named
from approvals.models import Approval, Step
from approvals.selectors import AnswerTime, Waiting, answer_time, open_approvals, split_for
from approvals.states import ApprovalState
from kernel.calendar import local_day, organisation_zone
from kernel.formats import duration, number, said_instant

ROLE_WORDS = {
    Role.ADMIN.value: gettext_lazy("admin"),
    Role.DIRECTOR.value: gettext_lazy("director"),
    Role.AUDITOR.value: gettext_lazy("auditor"),
}
HOUR_S = 3600
STUCK, RETURNED, OVERDUE, TODAY, WEEK, LATER = "stuck", "returned", "overdue", "today", "week", "later"
GROUPS = {
    STUCK: gettext_lazy("Nobody can decide"),
    OVERDUE: gettext_lazy("Answer overdue"),
    TODAY: gettext_lazy("Answer today"),
    WEEK: gettext_lazy("Answer this week"),
    LATER: gettext_lazy("Answer later"),
    RETURNED: gettext_lazy("Asked back, with who asked"),
}
"""In the order of the page."""
FITS = {
    "yes": gettext_lazy("fits"),
    "no": gettext_lazy("too many"),
    "none": gettext_lazy("touches no guarantee"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One approval as a row of the queue."""

    approval: Approval
    group: str
    kind: str
    shown: QueueRow
    decided_by: str
    behalf: Person | None
    waits_s: float
    step: Step | None = None

    @property
    def fits(self) -> str:
        """``yes``, ``no``, or ``none`` where no guarantee grows."""
        if self.shown.fits is None or self.shown.asked_more <= 0:
            return "none"
        return "yes" if self.shown.fits else "no"

    @property
    def too_many(self) -> int:
        return self.shown.asked_more - (self.shown.free or 0)

    @property
    def gpus(self) -> str:
        """How many more, for a sum that a script makes."""
        return str(max(self.shown.asked_more, 0))

    @property
    def gives_back(self) -> int:
        return max(-self.shown.asked_more, 0)

    @property
    def fits_words(self) -> str:
        """The same in words, with the numbers."""
        if self.fits == "none":
            count = {"n": self.gives_back}
            return _("gives back %(n)s") % count if self.gives_back else str(FITS["none"])
        if self.fits == "no":
            return _("%(n)s too many") % {"n": number(self.too_many)}
        words = {"asked": number(self.shown.asked_more), "free": number(self.shown.free or 0)}
        return _("%(asked)s of %(free)s free") % words

    @property
    def due_words(self) -> str:
        """By when it is to be answered, exactly."""
        if self.approval.due_at is None:
            return ""
        return _("Answer by %(at)s") % {"at": said_instant(self.approval.due_at, organisation_zone())}

    @property
    def seen(self) -> str:
        """The approval in the version that is shown, as forms and addresses name it."""
        return f"{self.approval.pk}:{self.approval.version}"

    @property
    def waits(self) -> str:
        """Minutes say nothing once there are hours."""
        return duration(self.waits_s if self.waits_s < HOUR_S else self.waits_s // HOUR_S * HOUR_S)

    @property
    def is_late(self) -> bool:
        return self.group == OVERDUE

    @property
    def title(self) -> str:
        return self.shown.title or self.approval.title


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for; empty: any."""

    kinds: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    fits: frozenset[str] = frozenset()

    @property
    def is_set(self) -> bool:
        return bool(self.kinds or self.models or self.fits)

    def take(self, line: Line) -> bool:
        asked = ((self.kinds, line.approval.kind), (self.models, line.shown.gpu_model), (self.fits, line.fits))
        return all(not wanted or value in wanted for wanted, value in asked)


@dataclass(frozen=True, slots=True)
class Queue:
    """Everything open that a person may know of: what waits for them, and what for others."""

    mine: Sequence[Waiting]
    others: Sequence[Waiting]


@dataclass(frozen=True, slots=True)
class Figures:
    """``oldest_s``: how long the oldest has waited; ``typical``: how fast this person usually answers."""

    count: int
    overdue: int
    oldest_s: float | None
    typical: AnswerTime | None


@dataclass(frozen=True, slots=True)
class Group:
    key: str
    lines: Sequence[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        return str(GROUPS[self.key])


def queue_of(person: Person) -> Queue:
    """A constant number of statements. What was asked back waits for who asked, whoever may decide it then."""
    rows = list(open_approvals(person))
    mine, others = split_for(person, [row for row in rows if row.state == ApprovalState.WAITING])
    returned = [Waiting(row, None, ()) for row in rows if row.state == ApprovalState.RETURNED]
    return Queue(mine, [*others, *returned])


def figures(person: Person, mine: Sequence[Waiting], now: datetime) -> Figures:
    """What the head of the page says. One statement."""
    waits = [(now - row.approval.submitted_at).total_seconds() for row in mine]
    late = [row for row in mine if _group(row, now) == OVERDUE]
    return Figures(len(mine), len(late), max(waits, default=None), answer_time(now, person=person))


def lines(rows: Sequence[Waiting], now: datetime, *, is_mine: bool) -> list[Line]:
    """Rows of one list. A constant number of statements for each kind among them."""
    approvals = [row.approval for row in rows]
    shown, people = shown_rows(approvals, now), _people(rows)
    return [
        Line(
            approval=row.approval,
            group=_group(row, now),
            kind=str(kind_named(row.approval.kind).label),
            shown=shown[row.approval.pk],
            decided_by=_who_is_next(row, people, is_mine=is_mine),
            behalf=people.get(row.on_behalf_of) if row.on_behalf_of else None,
            waits_s=(now - row.approval.submitted_at).total_seconds(),
            step=row.step,
        )
        for row in rows
    ]


def shown_rows(approvals: Sequence[Approval], now: datetime) -> dict[int, QueueRow]:
    """What each kind says of its own, asked once for all of them."""
    return {pk: shown for kind, rows in by_kind(approvals) for pk, shown in kind.rows(rows, now).items()}


def path_words(steps: Sequence[Step], people: Mapping[int, Person], *, is_mine: bool) -> str:
    """Who decides, one after the other: ``You, director``."""
    words = [step_words(step, people) for step in steps]
    if is_mine and words:
        words[0] = _("You")
    return ", ".join(words)


def _who_is_next(row: Waiting, people: Mapping[int, Person], *, is_mine: bool) -> str:
    """Who decides; of what was asked back, whose answer comes before."""
    if row.approval.state == ApprovalState.RETURNED:
        return str(row.approval.requester)
    return path_words(row.ahead, people, is_mine=is_mine)


def step_words(step: Step, people: Mapping[int, Person]) -> str:
    """Who may decide one step: ``admin or director``, or people by name."""
    named = [str(people[pk]) for pk in step.people if pk in people]
    roles = [str(ROLE_WORDS.get(role, role)) for role in sorted(step.open_to)]
    return _(" or ").join([*roles, *named]) or "–"


def grouped(rows: Iterable[Line]) -> list[Group]:
    """In the order of the page; groups without any are left out."""
    places = {key: place for place, key in enumerate(GROUPS)}
    ordered = sorted(rows, key=lambda line: places[line.group])
    return [Group(key, list(found)) for key, found in groupby(ordered, key=lambda line: line.group)]


def kinds_among(rows: Iterable[Line]) -> list[tuple[str, str]]:
    """Kinds that occur, with their labels: what the filter offers."""
    return sorted({(row.approval.kind, row.kind) for row in rows}, key=lambda pair: pair[1].casefold())


def models_among(rows: Iterable[Line]) -> list[str]:
    counted = Counter(row.shown.gpu_model for row in rows if row.shown.gpu_model)
    return sorted(counted)


def _group(row: Waiting, now: datetime) -> str:
    if row.approval.state == ApprovalState.RETURNED:
        return RETURNED
    if row.is_stuck:
        return STUCK
    due = row.approval.due_at
    if due is None:
        return LATER
    if due <= now:
        return OVERDUE
    today = local_day(now)
    if local_day(due) <= today:
        return TODAY
    sunday = today + timedelta(days=6 - today.weekday())
    return WEEK if local_day(due) <= sunday else LATER


def _people(rows: Sequence[Waiting]) -> dict[int, Person]:
    """Those whom steps name and those decided for. At most one statement."""
    ids = {pk for row in rows for step in row.ahead for pk in step.people}
    ids |= {row.on_behalf_of for row in rows if row.on_behalf_of}
    return Person.objects.in_bulk(sorted(ids)) if ids else {}
