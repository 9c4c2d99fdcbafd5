"""Who is told what about an approval. Everything goes through the ledger of notices, so that nobody is told twice."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Person, Role
from accounts.notifications import Told, Topic, Urgency, notify, notify_many, settle
from accounts.notifications.recipients import holders
from approvals.deciders import Decider
from approvals.kinds import Kind, kind_named
from approvals.models import Answer, Approval, Comment, Delegation, Step

GROUP = "approvals"
TOPICS = (
    Topic(
        name="approvals.waiting",
        title=_("Decide: %(title)s"),
        text=_("%(requester)s asked. It waits for you or one of the others who may decide; answer by %(due_at)s."),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.overdue",
        title=_("Answer overdue: %(title)s"),
        text=_("%(requester)s has waited since %(submitted_at)s; an answer was due by %(due_at)s."),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.unroutable",
        title=_("Nobody can decide: %(title)s"),
        text=_("Everybody who could is on the project's side, deactivated or has voted. Give somebody the role."),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.approved",
        title=_("Approved: %(title)s"),
        text=_("Decided by %(person)s. %(comment)s"),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="approvals.granted",
        title=_("Approved: %(title)s"),
        text=_("Granted at once by the policy."),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="approvals.rejected",
        title=_("Refused: %(title)s"),
        text=_("%(person)s: %(comment)s"),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.returned",
        title=_("A question before it is decided: %(title)s"),
        text=_("%(person)s: %(comment)s"),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.withdrawn",
        title=_("Withdrawn: %(title)s"),
        text=_("%(person)s no longer asks for it."),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="approvals.taken_back",
        title=_("Withdrawn: %(title)s"),
        text=_("The portal took it back: its project was closed."),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="approvals.commented",
        title=_("Comment on: %(title)s"),
        text=_("%(person)s: %(comment)s"),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="approvals.stand_in",
        title=_("You stand in for %(person)s"),
        text=_("From %(starts_at)s until %(ends_at)s you may decide what %(person)s may."),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
    Topic(
        name="approvals.handed_on",
        title=_("Handed to you: %(title)s"),
        text=_("%(person)s asks you to decide instead. %(comment)s"),
        urgency=Urgency.BLOCKS,
        group=GROUP,
    ),
)
_ASKING = ("approvals.waiting", "approvals.overdue", "approvals.unroutable", "approvals.handed_on")
_ENDED = {
    Answer.APPROVE: "approvals.approved",
    Answer.REJECT: "approvals.rejected",
    Answer.RETURN: "approvals.returned",
}


def address(approval: Approval) -> str:
    """The decision page."""
    return reverse("approval", args=[approval.pk])


def tell_deciders(found: Mapping[int, Sequence[Decider]], rows: Mapping[int, tuple[Approval, Step]]) -> None:
    """Whoever may decide now hears of it once for each step, also those to whom it fell later."""
    notify_many([_told("approvals.waiting", *rows[pk], people) for pk, people in found.items() if people])


def tell_overdue(
    found: Mapping[int, Sequence[Decider]], rows: Mapping[int, tuple[Approval, Step]], *, occasion: str
) -> None:
    """Those who may decide, once on each occasion: the answer is ``due``, and it has ``escalated`` to others too."""
    due = ((rows[pk], people) for pk, people in found.items() if people)
    notify_many([_told("approvals.overdue", *row, people, f":{occasion}") for row, people in due])


def tell_unroutable(approvals: Iterable[tuple[Approval, Step]]) -> None:
    """The admins, once for each step that nobody can decide."""
    stuck = list(approvals)
    if not stuck:
        return
    there = [Decider(person) for person in holders(Role.ADMIN)]
    notify_many([_told("approvals.unroutable", approval, step, there, ":stuck") for approval, step in stuck])


def settle_question(approval: Approval) -> None:
    """The question is answered, or the request taken back."""
    settle(subject=approval, topics=("approvals.returned",))


def settle_waiting(approval: Approval) -> None:
    """What was waited for is done: nobody is asked for it any more."""
    settle(subject=approval, topics=_ASKING)


def tell_answer(approval: Approval, answer: Answer, by: Person | None, comment: str) -> None:
    """Who asked, and whom the room names; never the one who decided."""
    kind: Kind = kind_named(approval.kind)
    to = ({approval.requester_id} | set(kind.told(approval))) - ({by.pk} if by else set())
    words = {"title": approval.title, "person": str(by or ""), "comment": comment}
    url = kind.address(approval)
    once = f"approval:{approval.pk}:{approval.version}:{answer}"
    topic = _ENDED[answer] if by else "approvals.granted"
    notify(topic=topic, to=to, subject=approval, words=words, url=url, once=once)


def tell_withdrawn(approval: Approval, by: Person | None, to: Iterable[int]) -> None:
    """Those who could have decided."""
    words = {"title": approval.title, "person": str(by or "")}
    once = f"approval:{approval.pk}:{approval.version}:withdrawn"
    others = set(to) - ({by.pk} if by else set())
    topic = "approvals.withdrawn" if by else "approvals.taken_back"
    notify(topic=topic, to=others, subject=approval, words=words, url=address(approval), once=once)


def tell_comment(comment: Comment, to: Iterable[int]) -> None:
    """The others who take part."""
    approval = comment.approval
    words = {"title": approval.title, "person": str(comment.author), "comment": comment.text}
    once = f"comment:{comment.pk}"
    others = set(to) - {comment.author_id}
    notify(topic="approvals.commented", to=others, subject=approval, words=words, url=address(approval), once=once)


def tell_stand_in(row: Delegation, ends_at: datetime | None) -> None:
    """Who stands in from now on or from a day to come."""
    words = {
        "person": str(row.principal),
        "starts_at": row.starts_at.isoformat(),
        "ends_at": ends_at.isoformat() if ends_at else "",
    }
    url = reverse("approvals:delegations")
    to = [row.stand_in_id]
    notify(topic="approvals.stand_in", to=to, subject=row, words=words, url=url, once=f"delegation:{row.pk}")


def tell_handed_on(row: Delegation, approval: Approval) -> None:
    """Who is asked to decide one approval instead."""
    words = {"title": approval.title, "person": str(row.principal), "comment": row.reason}
    once, to = f"delegation:{row.pk}", [row.stand_in_id]
    notify(topic="approvals.handed_on", to=to, subject=approval, words=words, url=address(approval), once=once)


def _told(topic: str, approval: Approval, step: Step, people: Iterable[Decider], mark: str = "") -> Told:
    """``mark``: what else than the step tells one notice from another."""
    words = {
        "title": approval.title,
        "requester": str(approval.requester),
        "submitted_at": approval.submitted_at.isoformat(),
        "due_at": step.due_at.isoformat() if step.due_at else "",
    }
    # A step that waits again, after a vote that no longer counts, is another wait.
    since = step.started_at.astimezone(UTC).isoformat() if step.started_at else ""
    once = f"approval:{approval.pk}:{step.round}:{step.number}:{since}{mark}"
    return Told(topic, [row.person_id for row in people], approval, words, address(approval), once)
