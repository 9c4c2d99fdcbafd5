"""How quota requests are decided: what the flow of approvals asks of this room."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from accounts.models import Role
from approvals.kinds import Act, Locked, QueueRow
from approvals.models import Answer, Approval
from approvals.rules import Measures, Rule, StepRule
from inventory.models import GpuModel
from kernel import clock
from projects.approvals import ProjectSubject
from projects.models import Project
from projects.selectors import tier_at
from quotas.errors import Changed
from quotas.models import QuotaRequest
from quotas.requests import changing, queue
from quotas.requests.asking import asked_of, holdings_of
from quotas.requests.content import changed_words, content_hash
from quotas.requests.selectors import KIND
from quotas.requests.weighing import measures_of
from quotas.services.granting import grant_request
from quotas.services.requests import step

_ADMIN = StepRule(roles=(Role.ADMIN,), answer_hours=24, escalate_to=(Role.DIRECTOR,))
_DIRECTOR = StepRule(roles=(Role.DIRECTOR,), answer_hours=48)
"""Nobody decides in the director's place: what is this large waits."""


class QuotaRequestKind(ProjectSubject):
    """A project asks for other totals of one GPU model."""

    name: ClassVar[str] = KIND
    label: ClassVar[str | Promise] = _("Quota request")
    default_rules: ClassVar[tuple[Rule, ...]] = (
        Rule(gettext_noop("Gives back, or guarantees no more"), (), most_gpus=0),
        Rule(gettext_noop("Small and short"), (), most_gpus=8, most_share_percent=2, most_days=14),
        Rule(gettext_noop("Up to 32"), (_ADMIN,), most_gpus=32),
        Rule(gettext_noop("Everything else"), (_ADMIN, _DIRECTOR)),
    )
    measured_by: ClassVar[frozenset[str]] = frozenset({"gpus", "share_percent", "days", "tier"})

    def locks(self, approval: Approval, answer: Answer) -> Mapping[type[Model], Iterable[Any]]:
        """What is consumed is locked whatever the answer: a vote may be the last one."""
        request = QuotaRequest.objects.get(pk=approval.subject_id)
        return {Project: [request.project_id], GpuModel: [request.gpu_model_id], QuotaRequest: [request.pk]}

    def content(self, approval: Approval, locked: Locked) -> str:
        return content_hash(_request(approval, locked))

    def changed(self, seen: str, now: str) -> list[str]:
        return changed_words(seen, now)

    def measures(self, approval: Approval, locked: Locked) -> Measures:
        request, now = _request(approval, locked), clock.now()
        tier = tier_at([request.project_id], now).get(request.project_id)
        asked = asked_of(request, approval.changes)
        return measures_of(asked, holdings_of(request, now), _model(request, locked), tier, now)

    def carry_out(self, act: Act, locked: Locked) -> None:
        request = _request(act.approval, locked)
        if act.answer != Answer.APPROVE:
            step(request, act.answer, act.actor, act.reason)
            return
        grant_request(
            request,
            asked_of(request, act.changes),
            project=locked[Project][request.project_id],
            model=_model(request, locked),
            actor=act.actor,
            reason=act.reason,
        )

    def rows(self, approvals: Sequence[Approval], now: datetime) -> Mapping[int, QueueRow]:
        return queue.rows(approvals, now)

    def address(self, approval: Approval) -> str:
        return reverse("quota-request", args=[approval.subject_id])

    def checked_changes(self, approval: Approval, changes: Mapping[str, Any]) -> dict[str, Any]:
        return changing.checked(approval, changes)


def _request(approval: Approval, locked: Locked) -> QuotaRequest:
    request: QuotaRequest = locked[QuotaRequest][approval.subject_id]
    return request


def _model(request: QuotaRequest, locked: Locked) -> GpuModel:
    """The locked row. Raises ``Changed`` where another model is asked for than was locked."""
    model: GpuModel | None = locked[GpuModel].get(request.gpu_model_id)
    if model is None:
        raise Changed
    return model
