"""The decision on a registration: what it asks for against what there is, and what is registered already."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.core.cache import cache
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Person
from accounts.policies import has_role
from approvals.models import Approval
from approvals.states import ApprovalState
from inventory.capacity import Capacity
from inventory.selectors import capacity_at
from portal.pages.approval.kinds import Evidence, Line, Shown
from portal.pages.approval.sight import Sight
from portal.pages.registration import Against
from projects.content import hash_of
from projects.history import HistoryItem, changed_between_submissions
from projects.models import ComputeRequest, Membership, Project, Question
from projects.policies import SEES_ALL, visible_to
from projects.registration.glance import Asked
from projects.selectors import MilestoneFact, history, members, milestone_facts, questions
from projects.services import project_withdraw
from projects.similar import Similar, similar_to
from projects.suitability import suitability_of
from quotas.selectors import promised_at

NOTHING = Capacity(0, 0)
KEPT_S = 300


@dataclass(frozen=True, slots=True)
class Stated:
    """What a registration states, as the registry's own parts of a page show it."""

    project: Project
    members: Sequence[Membership]
    expected_compute: Sequence[ComputeRequest]
    milestones: Sequence[MilestoneFact]

    @property
    def content(self) -> str:
        """The hash of just this: no statement."""
        return hash_of(self.project, self.expected_compute, self.milestones, self.members)


@dataclass(frozen=True, slots=True)
class Registration:
    """``changes``: what is otherwise than when it was submitted last; None for a first submission."""

    detail: Stated
    against: Sequence[Against]
    similar: Sequence[Similar]
    thread: Sequence[Question]
    changes: Sequence[HistoryItem] | None
    may_open: bool
    """Whether the reader may open the project's own page."""


class ShownRegistration(Shown):
    asked_template = "portal/approval/registration/_asked.html"
    effect_template = "portal/approval/registration/_effect.html"
    before_template = "portal/approval/registration/_before.html"
    peek_template = "portal/approval/registration/_peek.html"

    def evidence(self, sight: Sight) -> Evidence:
        rows = Project.objects.select_related("area", "created_by", "submitted_by")
        found = _registration(sight, rows.get(pk=sight.approval.subject_id))
        lines = tuple(_line(row) for row in found.against)
        count = len(found.similar)
        words = ngettext("%(count)s similar registration", "%(count)s similar registrations", count)
        before = words % {"count": count} if count else _("No similar registration")
        return Evidence(
            asked=_("Registration of a project"),
            effect=_effect(found.against),
            before=before,
            lines=lines,
            reason=found.detail.project.goal,
            more=found,
            content=found.detail.content,
            answer_url=reverse("projects:edit", args=[found.detail.project.pk]),
        )

    def withdraw(self, actor: Person, approval: Approval, reason: str) -> None:
        project_withdraw(actor=actor, project_id=approval.subject_id, reason=reason)

    def can_withdraw(self, approval: Approval) -> bool:
        """What was asked back is a draft already."""
        return approval.state == ApprovalState.WAITING


def _registration(sight: Sight, project: Project) -> Registration:
    compute = project.expected_compute.select_related("gpu_model").order_by("gpu_model__name")
    detail = Stated(project, members(project), list(compute), milestone_facts(project))
    among = visible_to(sight.person)
    similar = similar_to(
        name=project.name, goal=project.goal, datasets=project.datasets, among=among, exclude=project.pk
    )
    may_open = has_role(sight.person, *SEES_ALL) or among.filter(pk=project.pk).exists()
    thread, changes = questions(project), _changes(sight.approval, project)
    return Registration(detail, _against(detail, sight), similar, thread, changes, may_open)


def _changes(approval: Approval, project: Project) -> list[HistoryItem] | None:
    """Kept for five minutes: what is submitted does not change. Three statements."""
    key = f"decision-changes:{approval.pk}:{approval.version}"
    kept = cache.get(key)
    if isinstance(kept, list):
        rows = [HistoryItem(**{**row, "at": datetime.fromisoformat(row["at"])}) for row in kept[0] or ()]
        return None if kept[0] is None else rows
    found = changed_between_submissions(history(project))
    plain = None if found is None else [{**asdict(row), "at": row.at.isoformat()} for row in found]
    cache.set(key, [plain], KEPT_S)
    return found


def _against(detail: Stated, sight: Sight) -> list[Against]:
    """One for each model asked for, in the order of the request."""
    now, project = sight.now, detail.project
    models = [row.gpu_model_id for row in detail.expected_compute]
    capacities, promised, rated = capacity_at(now, models), promised_at(now, models), suitability_of([project.pk])
    return [
        Against(
            row.gpu_model,
            capacities.get(row.gpu_model_id, NOTHING),
            promised.get(row.gpu_model_id, 0),
            rated[project.pk, row.gpu_model_id],
            Asked(row.gpu_model.name, row.min, row.target, row.max),
        )
        for row in detail.expected_compute
    ]


def _effect(against: Sequence[Against]) -> str:
    """An approval promises nothing; whether what is wanted could be met is said all the same."""
    if not against:
        return _("It states no expected compute.")
    tight = [row for row in against if row.verdict != "fits"]
    if not tight:
        return _("It promises no GPU. All that it expects could be promised today.")
    words = ngettext(
        "It promises no GPU. Of %(count)s GPU model less is free than it expects.",
        "It promises no GPU. Of %(count)s GPU models less is free than it expects.",
        len(tight),
    )
    return words % {"count": len(tight)}


def _line(row: Against) -> Line:
    words = {"model": row.model.title, "asked": row.asked.target if row.asked else 0, "free": row.free}
    if row.verdict == "fits":
        return Line("ok", _("%(model)s: %(asked)s of %(free)s free") % words)
    return Line("waiting", _("%(model)s: %(asked)s expected, %(free)s free") % words)
