"""An approval as one person sees it: where it stands, what was said, what they may do, and what else waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Person
from accounts.policies import has_role
from approvals.kinds import contents_shown
from approvals.models import Approval, Comment, Step, Vote
from approvals.policies import SEES_ALL, may_comment, reads_private_notes, visible_to
from approvals.selectors import Waiting, names, open_approvals, said_about, split_for, votes_of
from approvals.states import ApprovalState
from approvals.waiting_count import remember
from kernel import clock
from kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Place:
    """Where it stands in what waits for the reader; addresses by id, None at the ends."""

    number: int
    count: int
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Sight:
    """``line``: the step that waits with those who may decide it; None for what does not wait."""

    approval: Approval
    person: Person
    now: datetime
    line: Waiting | None
    mine: Sequence[Waiting]
    steps: Sequence[Step]
    votes: Sequence[Vote]
    sees_private: bool
    talk: Sequence[Comment]
    people: Mapping[int, Person]

    @property
    def may_vote(self) -> bool:
        return any(row.approval.pk == self.approval.pk for row in self.mine)

    @property
    def on_behalf_of(self) -> Person | None:
        """For whom the reader would decide; None in their own right."""
        pk = self.line.on_behalf_of if self.line and self.may_vote else None
        return self.people.get(pk) if pk else None

    @property
    def may_hand_on(self) -> bool:
        """Who decides in their own right; a stand-in passes nothing on."""
        return self.may_vote and self.line is not None and self.line.on_behalf_of is None

    @property
    def is_asker(self) -> bool:
        return self.approval.requester_id == self.person.pk

    @property
    def seen(self) -> str:
        """The hash of what is shown: the answer holds for it."""
        return contents_shown([self.approval])[self.approval.pk]

    @property
    def may_comment(self) -> bool:
        return may_comment(self.person, self.approval)

    @property
    def current(self) -> Step | None:
        return self.line.step if self.line else None

    @property
    def next_step(self) -> Step | None:
        """The one after the step that waits."""
        if self.current is None:
            return None
        ahead = (step for step in self.steps if step.round == self.approval.round and step.passed_at is None)
        return next((step for step in ahead if step.number > self.current.number), None)

    @property
    def place(self) -> Place | None:
        ids = [row.approval.pk for row in self.mine]
        if self.approval.pk not in ids:
            return None
        index = ids.index(self.approval.pk)
        before = ids[index - 1] if index else None
        after = ids[index + 1] if index + 1 < len(ids) else None
        return Place(index + 1, len(ids), before, after)

    @property
    def waits_since(self) -> datetime:
        """Since when the step that waits does, or since it was submitted."""
        started = self.current.started_at if self.current else None
        return started or self.approval.submitted_at


def sight_of(person: Person, approval_id: int) -> Sight:
    """Raises ``NotFound`` for a stranger as for one that is not there. A constant number of statements."""
    rows = list(open_approvals(person).filter(state=ApprovalState.WAITING))
    approval = next((row for row in rows if row.pk == approval_id), None)
    if approval is None:
        approval = visible_to(person).select_related("requester", "policy").filter(pk=approval_id).first()
    if approval is None:
        raise NotFound
    mine, others = split_for(person, rows)
    remember(person.pk, len(mine))
    line = next((row for row in (*mine, *others) if row.approval.pk == approval.pk), None)
    votes, private = votes_of(approval), _sees_private(person, approval, mine)
    steps = _steps(votes, line)
    ids = {pk for step in steps for pk in step.people}
    if line is not None:
        ids |= {one.person_id for one in line.deciders} | {
            one.on_behalf_of for one in line.deciders if one.on_behalf_of
        }
    return Sight(
        approval=approval,
        person=person,
        now=clock.now(),
        line=line,
        mine=mine,
        steps=steps,
        votes=votes,
        sees_private=private,
        talk=said_about(approval, with_private=private),
        people=names(sorted(ids)) if ids else {},
    )


def _sees_private(person: Person, approval: Approval, mine: Sequence[Waiting]) -> bool:
    """Whoever may vote is not on the project's side: then only the role is asked for, a statement less."""
    if any(row.approval.pk == approval.pk for row in mine):
        return has_role(person, *SEES_ALL)
    return reads_private_notes(person, approval)


def _steps(votes: Sequence[Vote], line: Waiting | None) -> list[Step]:
    """Those in which somebody voted, and those ahead while it waits, in their order."""
    found = {vote.step_id: vote.step for vote in votes}
    found |= {step.pk: step for step in (line.ahead if line else ())}
    return sorted(found.values(), key=lambda step: (step.round, step.number))
