"""A registration as the flow of approvals sees it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from accounts.models import Role
from approvals.kinds import Act, Locked, QueueRow
from approvals.models import Answer, Approval
from approvals.rules import Measures, Rule, StepRule
from projects.approvals import ProjectSubject
from projects.content import REGISTRATION, changed_fields, content_hash, content_hashes
from projects.models import Project, Stage
from projects.services.decisions import project_judged
from projects.words import word


class RegistrationKind(ProjectSubject):
    """Any admin or director decides; a lead of the project never does."""

    name = REGISTRATION
    label = gettext_lazy("Registration of a project")
    default_rules = (
        Rule(
            name=gettext_noop("Every registration"),
            steps=(StepRule((Role.ADMIN, Role.DIRECTOR), answer_hours=72),),
        ),
    )

    def locks(self, approval: Approval, answer: Answer) -> Mapping[type[Model], Iterable[Any]]:
        return {Project: [approval.subject_id]}

    def content(self, approval: Approval, locked: Locked) -> str:
        return content_hash(locked[Project][approval.subject_id])

    def contents_shown(self, approvals: Sequence[Approval]) -> Mapping[int, str]:
        """The team may change while a registration waits."""
        projects = Project.objects.select_related("area").filter(pk__in=[row.subject_id for row in approvals])
        now = content_hashes(list(projects))
        return {row.pk: now[row.subject_id] for row in approvals}

    def changed(self, seen: str, now: str) -> list[str]:
        return changed_fields(seen, now)

    def field_word(self, field: str) -> str:
        return word(field)

    def measures(self, approval: Approval, locked: Locked) -> Measures:
        """A registration promises no GPU: there is nothing to measure it by."""
        return Measures()

    def carry_out(self, act: Act, locked: Locked) -> None:
        project_judged(act, locked[Project][act.approval.subject_id])

    def rows(self, approvals: Sequence[Approval], now: datetime) -> Mapping[int, QueueRow]:
        """From what was kept at the submission: no statement."""
        return {row.pk: QueueRow(icon="projects", what=_stage(row.summary.get("stage", ""))) for row in approvals}

    def address(self, approval: Approval) -> str:
        return reverse("project", args=[approval.subject_id])


def _stage(stage: str) -> str:
    if stage not in Stage.values:
        return _("New project")
    return _("New, %(stage)s") % {"stage": str(Stage(stage).label).lower()}
