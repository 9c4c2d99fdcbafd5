"""A quota request on the decision page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import has_role
from approvals.models import Approval
from approvals.policies import SEES_ALL
from inventory.models import GpuModel
from kernel.calendar import local_day
from kernel.formats import number
from portal.pages.approval.evidence.chart import capacity_chart
from portal.pages.approval.evidence.lending import Lending, Loss
from portal.pages.approval.evidence.outlook import Asked, Outlook, Step
from portal.pages.approval.kinds import Evidence, Line, Shown
from portal.pages.approval.quota import words
from portal.pages.approval.quota.cases import Cases, cases_of
from portal.pages.approval.quota.facts import (
    Ledger,
    Present,
    Taken,
    asked_on,
    ledger_of,
    lending_of,
    outlook_of,
    present,
    tiers_of,
)
from portal.pages.approval.quota.less import LessForm
from portal.pages.approval.quota.pictures import Amounts, asked_bar, tall_spark
from portal.pages.approval.quota.use import Cost, Use, cost_of, use_of
from portal.pages.approval.sight import Sight
from projects.models import Milestone
from quotas.models import QuotaRequest, RequestAttachment
from quotas.requests.asking import Asked as Wanted
from quotas.requests.asking import asked_of
from quotas.services import request_withdraw

MOST_LOSSES = 12


@dataclass(frozen=True, slots=True)
class LossRow:
    """One project that runs above its guarantee."""

    project: str
    project_id: int
    tier: str
    loss: Loss
    stops: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What it does to the others, while it is open."""

    seen: Outlook
    chart: SafeString
    lost: Lending
    rows: Sequence[LossRow]
    more: int
    """So many more borrow, and lose nothing."""

    @property
    def steps(self) -> list[Step]:
        """What the chart shows, as rows."""
        end = self.seen.shown.end
        return [step for step in self.seen.steps if end is None or step.at < end]


@dataclass(frozen=True, slots=True)
class QuotaMore:
    """What the templates draw. ``effect`` None: it is decided, or its time has passed. ``sees_others``: whether the
    reader may know of other projects."""

    request: QuotaRequest
    model: GpuModel
    wanted: Wanted
    is_changed: bool
    amounts: Amounts
    bar: SafeString
    tier: str | None
    milestone: Milestone | None
    attachments: Sequence[RequestAttachment]
    use: Use
    spark: SafeString | str
    cost: Cost | None
    cases: Cases | None
    effect: Effect | None
    sees_others: bool


class ShownQuotaRequest(Shown):
    asked_template = "portal/approval/quota/_asked.html"
    effect_template = "portal/approval/quota/_effect.html"
    before_template = "portal/approval/quota/_before.html"
    peek_template = "portal/approval/quota/_peek.html"

    def evidence(self, sight: Sight) -> Evidence:
        return _Reading(sight).evidence()

    def grant_words(self) -> str:
        return _("Approve, grant")

    def less_form(self, sight: Sight, data: Mapping[str, Any] | None, given: Mapping[str, Any]) -> LessForm | None:
        request = QuotaRequest.objects.get(pk=sight.approval.subject_id)
        return LessForm(data, initial=given, wanted=asked_of(request, sight.approval.changes))

    def can_withdraw(self, approval: Approval) -> bool:
        return approval.is_open

    def withdraw(self, actor: Person, approval: Approval, reason: str) -> None:
        request_withdraw(actor=actor, request_id=approval.subject_id, reason=reason)


class _Reading:
    """Everything about one request, each thing read once."""

    def __init__(self, sight: Sight) -> None:
        rows = QuotaRequest.objects.select_related("project", "gpu_model")
        request = rows.get(pk=sight.approval.subject_id)
        if request.gpu_model is None:
            raise LookupError(f"request {request.pk} was submitted without a GPU model")
        self.sight, self.request, self.model = sight, request, request.gpu_model
        self.approval, self.now = sight.approval, sight.now
        self.wanted = asked_of(request, self.approval.changes)
        self.ledger: Ledger = ledger_of(self.model, self.now)
        self.present: Present = present(self.model, self.now)
        self.asked = asked_on(self.ledger, request.project_id, self.wanted, self.now) if self.approval.is_open else None
        self.sees_others = sight.may_vote or (has_role(sight.person, *SEES_ALL) and not sight.is_asker)

    def evidence(self) -> Evidence:
        projects = {self.request.project_id, *self.present.by_project}
        tiers = tiers_of(projects, self.now)
        effect = self._effect(self.asked, tiers) if self.asked is not None else None
        more = self._more(effect, tiers)
        passed = _("The time it was asked for has passed.")
        return Evidence(
            asked=words.asked_words(effect.seen, self.model.title) if effect else self.approval.title,
            effect=words.effect_words(effect.seen, effect.lost) if effect else passed,
            before=more.cases.headline if more.cases else "",
            lines=self._lines(effect) if effect else (),
            reason=self.request.reason,
            more=more,
            fits_at_most=_fit(effect, self.wanted) if effect else None,
            has_less=effect is not None and effect.seen.most_asked > 0,
            answer_url=_address(self.request),
        )

    def _effect(self, asked: Asked, tiers: Mapping[int, str]) -> Effect:
        seen = outlook_of(self.ledger, asked, self.request, self.now)
        taken = Taken(self.request.project_id, asked.guaranteed, seen.present.reserve, self.now)
        lost = lending_of(self.ledger, self.present, tiers, taken)
        label = _("%(model)s over time: owned, reserve, usable, promised, and this request on top")
        chart = capacity_chart(seen, label=label % {"model": self.model.title})
        shown = lost.losses[:MOST_LOSSES] if self.sees_others else ()
        rows = [
            LossRow(
                self.present.names[row.project_id],
                row.project_id,
                tiers.get(row.project_id, ""),
                row,
                words.jobs_words(len(row.stopped), row.stopped_gpus) if row.stopped else "",
            )
            for row in shown
        ]
        return Effect(seen, chart, lost, rows, len(lost.losses) - len(rows))

    def _lines(self, effect: Effect) -> tuple[Line, ...]:
        seen, lost = effect.seen, effect.lost
        found = [words.fit_line(seen), words.guarantee_line(seen), words.reserve_line(seen)]
        if seen.most_asked > 0:
            found.append(words.lost_line(lost))
            unmet = words.unmet_line(lost)
            found += [unmet] if unmet is not None else []
        return (*found, words.rule_line(self.approval))

    def _more(self, effect: Effect | None, tiers: Mapping[int, str]) -> QuotaMore:
        request, own = self.request, self.ledger.of(self.request.project_id)
        now_held = sum(row.guaranteed for row in own if row.during.contains(self.now))
        guaranteed, limit = self.wanted.totals.guaranteed, self.wanted.totals.limit
        amounts = Amounts(self.present.used(request.project_id), now_held, guaranteed, limit)
        use = use_of(request.project_id, self.model, own, self.now)
        today = local_day(self.now)
        coming = request.project.milestones.filter(met_on__isnull=True, due_on__gte=today - timedelta(days=60))
        return QuotaMore(
            request=request,
            model=self.model,
            wanted=self.wanted,
            is_changed=bool(self.approval.changes),
            amounts=amounts,
            bar=asked_bar(amounts, label=_bar_words(amounts)),
            tier=tiers.get(request.project_id),
            milestone=coming.order_by("due_on", "pk").first(),
            attachments=list(request.attachments.defer("content")),
            use=use,
            spark=tall_spark(use.values, label=_use_words(use)) if use.mean_pct is not None else "",
            cost=cost_of(effect.seen, self.model, self.now) if effect else None,
            cases=cases_of(self.approval, request.project.stage, self.now) if self.sees_others else None,
            effect=effect,
            sees_others=self.sees_others,
        )


def _fit(effect: Effect, wanted: Wanted) -> int | None:
    """The largest total that fits, where all that is asked does not; None where nothing more would."""
    if effect.seen.fits:
        return None
    total = wanted.totals.guaranteed + effect.seen.tightest.left
    return total if total > wanted.totals.guaranteed - effect.seen.most_asked else None


def _address(request: QuotaRequest) -> str:
    return reverse("quota-request-edit", args=[request.pk])


def _bar_words(amounts: Amounts) -> str:
    return _("%(used)s used, %(now)s guaranteed now, %(asked)s asked for") % {
        "used": number(amounts.used),
        "now": number(amounts.now),
        "asked": number(amounts.asked),
    }


def _use_words(use: Use) -> str:
    return _("%(mean)s %% of the guarantee on average") % {"mean": number(use.mean_pct or 0)}
