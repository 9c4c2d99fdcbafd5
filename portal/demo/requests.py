"""Quota requests of the demo organisation in every state, made through the services as people would.

What waits was asked at different times of the last days, so that some of it is overdue; what was granted is granted
now, because nothing can be granted in the past.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F

from accounts.models import Person
from approvals.models import Approval
from approvals.services import Ballot, approval_comment, approval_hand_on, approval_vote, delegation_create
from inventory.selectors import capacity_at
from kernel import clock
from kernel.intervals import Interval
from portal.demo.fleet import MODELS
from portal.demo.names import SHOWCASE
from projects.models import Project
from projects.states import ProjectState
from quotas.models import Claim, QuotaRequest
from quotas.selectors import tightest_between
from quotas.services import RequestFacts, request_create, request_submit, request_withdraw

Fate = Callable[[Approval, dict[str, Person]], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """``more`` GPUs on top of what is guaranteed; ``days`` None: until the next review. ``hours`` ago it was asked."""

    more: int
    days: int | None
    hours: float
    reason: str
    fate: str = "waiting"
    model: str = ""
    """On which model, where that matters: what is granted leaves a tenth of each to nobody."""

    @property
    def part(self) -> int:
        """What it asks for is at most this part of the model: of what the policy grants by itself a fiftieth."""
        return 50 if self.fate == "automatic" else 3


WISHES = (
    Wish(40, None, 54, "The second stage doubles the sequence length; at today's size it ends after the milestone."),
    Wish(24, 45, 50, "Ablations for the paper: four runs side by side instead of one after the other."),
    Wish(16, 30, 22, "评测集扩大到四十种语言, 现有配额每轮需要九天。", "handed_on"),
    Wish(36, 60, 20, "The pilot hall is ready on the first; the policy has to be trained by then.", "one_vote"),
    Wish(12, 21, 15, "A sweep over the learning rate before the long run starts."),
    Wish(42, None, 12, "Long-range model: the probe beats the baseline at equal tokens.", "one_vote"),
    Wish(10, 28, 9, "Distillation of the teacher, overlapping with its evaluation."),
    Wish(20, 40, 6, "复现上一季度的结果, 用于评审。"),
    Wish(32, 90, 4, "Weather at one kilometre needs the whole domain at once."),
    Wish(14, 30, 1.5, "The dataset grew by a half; the same schedule needs half as many again."),
    Wish(400, 30, 3, "Everything at once, to see how far it scales."),
    Wish(16, 30, 30, "More throughput for the nightly fine-tunes.", "returned"),
    Wish(24, 60, 40, "A second copy of the training, as a reserve.", "rejected"),
    Wish(12, 30, 28, "A demonstrator for the board.", "withdrawn"),
    Wish(2, 7, 0, "Evaluation of the last checkpoint before the review.", "automatic"),
    Wish(1, 10, 0, "Profiling of the new kernels.", "automatic"),
    Wish(8, 28, 0, "Fine-tuning for three partners in parallel.", "approved", "h800"),
    Wish(16, 45, 0, "The video model at full resolution.", "less", "a800"),
)
EVERYTHING = 400
ASKED_BACK = "Which of the runs would wait if you got 8 instead?"


def seed_requests(people: dict[str, Person]) -> int:
    """Once; how many. Needs the quotas of the fleet's models."""
    if QuotaRequest.objects.exists():
        return 0
    claims, usable = _held(), {pk: row.usable for pk, row in capacity_at(clock.now()).items()}
    made = 0
    for wish in WISHES:
        claim = next((row for row in claims if _suits(wish, row, usable)), None)
        claim = claim or next(iter(claims), None)
        if claim is not None:
            claims.remove(claim)
            _make(wish, claim, people)
            made += 1
    _of_the_lead(people)
    now = clock.now()
    start, end = now + timedelta(days=5), now + timedelta(days=15)
    delegation_create(
        actor=people["director"],
        stand_in_id=people["okafor"].pk,
        starts_at=start,
        ends_at=end,
        reason="At a conference",
    )
    return made


def _suits(wish: Wish, claim: Claim, usable: dict[int, int]) -> bool:
    if wish.model and (claim.gpu_model is None or claim.gpu_model.name != wish.model):
        return False
    return usable.get(claim.gpu_model_id or 0, 0) // wish.part >= wish.more


def _held() -> list[Claim]:
    """One claim on the fleet's models of each active project, in order of the projects; the one on show is left out."""
    rows = Claim.objects.filter(
        gpu_model__name__in=MODELS,
        project__state=ProjectState.ACTIVE,
        during__contains=clock.now(),
        guaranteed__gte=4,
    )
    rows = rows.exclude(project__name=SHOWCASE).select_related("project__created_by", "gpu_model")
    first: dict[int, Claim] = {}
    for row in rows.order_by("project_id", "pk"):
        first.setdefault(row.project_id or 0, row)
    return list(first.values())


def _make(wish: Wish, claim: Claim, people: dict[str, Person]) -> None:
    if claim.project is None:
        return
    lead, now = claim.project.created_by, clock.now()
    row = request_create(actor=lead, project_id=claim.project.pk, facts=_facts(wish, claim))
    row = request_submit(actor=lead, request_id=row.pk)
    approval = Approval.objects.get(kind="quota_request", subject_id=row.pk)
    _date(approval, row, now - timedelta(hours=wish.hours))
    _FATES[wish.fate](approval, people)
    if wish.fate == "withdrawn":
        request_withdraw(actor=lead, request_id=row.pk, reason="Done by other means")


def _date(approval: Approval, row: QuotaRequest, at: datetime) -> None:
    """As if it had been asked then."""
    late = clock.now() - at
    QuotaRequest.objects.filter(pk=row.pk).update(created_at=at - timedelta(minutes=20), submitted_at=at)
    Approval.objects.filter(pk=approval.pk).update(requested_at=at, submitted_at=at, due_at=F("due_at") - late)
    approval.steps.update(started_at=F("started_at") - late, due_at=F("due_at") - late)


def _facts(wish: Wish, claim: Claim) -> RequestFacts:
    total = claim.guaranteed + min(wish.more, _most(wish, claim))
    limit = None if claim.limit is None else max(claim.limit, total)
    ends_at = None if wish.days is None else clock.now() + timedelta(days=wish.days)
    return {
        "gpu_model_id": claim.gpu_model_id,
        "guaranteed": total,
        "limit": limit,
        "ends_at": ends_at,
        "reason": wish.reason,
    }


def _most(wish: Wish, claim: Claim) -> int:
    """A third of what is usable of the model, so that several fit; who asks for everything asks for all of it."""
    usable = capacity_at(clock.now())[claim.gpu_model_id or 0].usable
    free_for_projects = tightest_between(claim.gpu_model_id or 0, Interval(clock.now())).free
    return max(1, free_for_projects + usable // 8 if wish.more >= EVERYTHING else usable // 3)


def _of_the_lead(people: dict[str, Person]) -> None:
    """The demo's lead has one that waits and one that is not sent yet."""
    lead = people["lead"]
    shown = Claim.objects.filter(project__name=SHOWCASE, gpu_model__name__in=MODELS).select_related("project").first()
    if shown is not None:
        wish = Wish(32, 53, 22, "Stage 2 doubles the sequence length; at today's size the run ends three weeks late.")
        _make(wish, shown, people)
    project = Project.objects.filter(name="Long-context pretraining", state=ProjectState.ACTIVE).first()
    if project is not None:
        request_create(actor=lead, project_id=project.pk, facts={"reason": "Evaluation beside the long run."})


def _vote(approval: Approval, person: Person, answer: str, comment: str = "", **changes: int) -> None:
    ballot = Ballot(answer, comment=comment, changes=changes)
    approval_vote(actor=person, approval_id=approval.pk, ballot=ballot)


def _one_vote(approval: Approval, people: dict[str, Person]) -> None:
    """Where a director decides after the admin."""
    if approval.steps.count() < 2:
        return
    _vote(approval, people["admin"], "approve", "Fits at its tightest day.")
    text = "Only if the milestone holds; I asked the lead."
    approval_comment(actor=people["admin"], approval_id=approval.pk, text=text, is_private=True)


def _handed_on(approval: Approval, people: dict[str, Person]) -> None:
    approval_comment(actor=approval.requester, approval_id=approval.pk, text="It ends a week earlier with 12.")
    approval_hand_on(
        actor=people["admin"], approval_id=approval.pk, to_id=people["okafor"].pk, comment="You know this area."
    )


def _less(approval: Approval, people: dict[str, Person]) -> None:
    asked = QuotaRequest.objects.get(pk=approval.subject_id).guaranteed or 0
    _vote(approval, people["admin"], "approve", "Half of it now.", guaranteed=asked - 8)


def _nothing(_approval: Approval, _people: dict[str, Person]) -> None:
    """It waits, or the policy has granted it already."""


_FATES: dict[str, Fate] = {
    "waiting": _nothing,
    "automatic": _nothing,
    "withdrawn": _nothing,
    "one_vote": _one_vote,
    "handed_on": _handed_on,
    "returned": lambda approval, people: _vote(approval, people["admin"], "return", ASKED_BACK),
    "rejected": lambda approval, people: _vote(approval, people["admin"], "reject", "It used a third of what it has."),
    "approved": lambda approval, people: _vote(approval, people["admin"], "approve", "Good use so far."),
    "less": _less,
}
