"""What screens and other rooms read of the registry. Every query for a person starts at ``policies.visible_to``."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Case, Count, F, IntegerField, OuterRef, Prefetch, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import Expression, OrderBy
from django.db.models.functions import Coalesce, Lower
from django.utils.translation import gettext as _

from accounts.policies import require_signed_in
from approvals.selectors import may_decide
from kernel import clock
from kernel.calendar import local_day
from kernel.errors import Invalid, NotFound
from projects import policies
from projects.content import REGISTRATION, hash_of
from projects.history import HistoryItem, history
from projects.models import (
    ComputeRequest,
    Membership,
    Milestone,
    Project,
    ProjectChange,
    ProjectRole,
    Question,
    Stage,
    Tier,
    TierFact,
)
from projects.policies import visible_to
from projects.states import ProjectState

__all__ = [
    "HistoryItem",
    "MilestoneFact",
    "ProjectDetail",
    "history",
    "in_order",
    "members",
    "milestone_facts",
    "name_is_taken",
    "open_question",
    "project_detail",
    "questions",
    "tier_at",
    "visible_to",
    "with_facts",
]

ORDER: dict[str, Expression | F] = {
    "name": Lower("name"),
    "state": F("state"),
    "stage": F("stage_rank"),
    "kind": F("kind"),
    "area": F("area__name"),
    "tier": F("tier_rank"),
    "breakthrough": F("breakthrough"),
    "members": F("members_count"),
    "created_at": F("created_at"),
    "updated_at": F("updated_at"),
}
"""What a list of projects may be sorted by, and nothing else."""


@dataclass(frozen=True, slots=True)
class MilestoneFact:
    """``state`` is planned, met or slipped (moved later, or its day has passed); ``first_due_on`` as once planned."""

    id: int
    name: str
    due_on: date
    met_on: date | None
    first_due_on: date
    state: str
    is_overdue: bool

    @property
    def pk(self) -> int:
        """Named as a row's, for templates that show either."""
        return self.id

    @property
    def standing(self) -> str:
        """The same for people: met, overdue, slipped (moved later, its day still ahead) or due."""
        if self.is_overdue:
            return "overdue"
        return "due" if self.state == "planned" else self.state


@dataclass(frozen=True, slots=True)
class ProjectDetail:
    """All that a page about one project shows of the registry."""

    project: Project
    tier: Tier | None
    members: Sequence[Membership]
    expected_compute: Sequence[ComputeRequest]
    milestones: Sequence[MilestoneFact]
    can: Sequence[str]
    """What this person could do now: events of the state machine, edit, manage_members, set_tier, run_jobs."""
    content: str
    """Hash of what an approver sees; an approval may name it as ``seen``."""
    standing: policies.Standing
    """What this person is to the project."""

    @property
    def stage_number(self) -> int:
        """The place of its stage on the way, from 1; 0 before there is one."""
        stage = self.project.stage
        return Stage.values.index(stage) + 1 if stage else 0

    @property
    def stages(self) -> int:
        """How many stages the way has."""
        return len(Stage.values)

    @property
    def leads(self) -> list[Membership]:
        return [row for row in self.members if row.role == ProjectRole.LEAD]


def tier_at(project_ids: Iterable[int], at: datetime) -> dict[int, Tier]:
    """The priority tier in force at this instant, by project; a project without one is absent."""
    rows = TierFact.objects.filter(project_id__in=list(project_ids), during__contains=at)
    return {project_id: Tier(tier) for project_id, tier in rows.values_list("project_id", "tier")}


def members(project: Project) -> list[Membership]:
    """Who is on the team now, leads first, each in order of joining; with the person."""
    rows = project.memberships.filter(left_at__isnull=True).select_related("person", "added_by")
    return sorted(rows, key=lambda row: (row.role != ProjectRole.LEAD, row.joined_at, row.pk))


def milestone_facts(project: Project) -> list[MilestoneFact]:
    """The milestones in order of their day, with where each stands today in the organisation's zone."""
    today = local_day(clock.now())
    first = _first_due(project)
    return [_milestone_fact(row, first.get(row.pk, row.due_on), today) for row in project.milestones.all()]


def project_detail(person: object, project_id: int) -> ProjectDetail:
    """Raises ``NotFound`` for a stranger as for a project that is not there; ``Unauthenticated``."""
    require_signed_in(person)
    project = visible_to(person).select_related("area", "created_by", "submitted_by").filter(pk=project_id).first()
    if project is None:
        raise NotFound
    standing, team = policies.standing(person, project), members(project)
    compute = list(project.expected_compute.select_related("gpu_model").order_by("gpu_model__name"))
    milestones = milestone_facts(project)
    return ProjectDetail(
        project=project,
        tier=tier_at([project.pk], clock.now()).get(project.pk),
        members=team,
        expected_compute=compute,
        milestones=milestones,
        can=sorted({*policies.allowed_now(standing, project), *_votes(person, project)}),
        content=hash_of(project, compute, milestones, team),
        standing=standing,
    )


def _votes(person: object, project: Project) -> tuple[str, ...]:
    """The answers that this person could give now."""
    if project.state != ProjectState.SUBMITTED or not may_decide(person, REGISTRATION, project.pk):
        return ()
    return ("approve", "reject", "return")


def name_is_taken(name: str, *, but: int | None = None) -> bool:
    """Whether another project that is neither rejected nor closed has this name; the database says the last word."""
    over = (ProjectState.REJECTED, ProjectState.CLOSED)
    rows = Project.objects.alias(lower=Lower("name")).filter(lower=Lower(Value(name))).exclude(state__in=over)
    return (rows if but is None else rows.exclude(pk=but)).exists()


def questions(project: Project) -> list[Question]:
    """What approvers asked and the leads answered, oldest first; the last may be open."""
    return list(Question.objects.filter(project=project).select_related("asked_by", "answered_by"))


def open_question(project: Project) -> Question | None:
    """The question that the next submission must answer."""
    return Question.objects.filter(project=project, answered_at=None).select_related("asked_by").first()


def with_facts(rows: QuerySet[Project]) -> QuerySet[Project]:
    """Rows of a list with ``tier_now``, ``members_count``, ``live_leads`` and their parts, in a constant number of
    statements; by name unless ordered otherwise."""
    tier = TierFact.objects.filter(project=OuterRef("pk"), during__contains=clock.now()).values("tier")[:1]
    team = Membership.objects.filter(project=OuterRef("pk"), left_at__isnull=True).order_by().values("project")
    leads = Membership.objects.filter(role=ProjectRole.LEAD, left_at__isnull=True).select_related("person")
    compute = ComputeRequest.objects.select_related("gpu_model").order_by("gpu_model__name")
    return (
        rows.select_related("area", "created_by", "submitted_by")
        .annotate(tier_now=Subquery(tier))
        .annotate(
            tier_rank=_rank("tier_now", Tier.values),
            stage_rank=_rank("stage", Stage.values),
            members_count=Coalesce(Subquery(team.annotate(n=Count("pk")).values("n")), 0),
        )
        .prefetch_related(
            Prefetch("memberships", queryset=leads.order_by("joined_at", "pk"), to_attr="live_leads"),
            Prefetch("expected_compute", queryset=compute),
            "milestones",
        )
        .order_by(Lower("name"), "pk")
    )


def matching(rows: QuerySet[Project], words: str) -> QuerySet[Project]:
    """Those whose name, goal or lead has all these words."""
    for word in words.split()[:10]:
        lead = Membership.objects.filter(left_at__isnull=True, role=ProjectRole.LEAD)
        lead = lead.filter(Q(person__display_name__icontains=word) | Q(person__username__icontains=word))
        rows = rows.filter(Q(name__icontains=word) | Q(goal__icontains=word) | Q(pk__in=lead.values("project")))
    return rows


def in_order(rows: QuerySet[Project], asked: str, *, field: str = "ordering") -> QuerySet[Project]:
    """Sort rows of ``with_facts`` by ``-tier,name``. Raises ``Invalid`` (for ``field``) naming the allowed keys."""
    keys = [key for key in asked.split(",") if key]
    terms = []
    for key in keys:
        name = key.removeprefix("-")
        if name not in ORDER:
            text = _("“%(key)s” cannot be sorted by; allowed: %(allowed)s")
            raise Invalid({field: text % {"key": key[:60], "allowed": ", ".join(ORDER)}})
        terms.append(OrderBy(ORDER[name], descending=key.startswith("-"), nulls_last=True))
    return rows.order_by(*terms, "pk") if terms else rows


def _rank(field: str, values: Sequence[str]) -> Case:
    """The place of a choice in its list; none comes last."""
    whens = [When(**{field: value}, then=Value(place)) for place, value in enumerate(values)]
    return Case(*whens, default=Value(len(values)), output_field=IntegerField())


def _first_due(project: Project) -> dict[int, date]:
    """The day first planned of each milestone that was moved, by id."""
    first: dict[int, date] = {}
    for change in ProjectChange.objects.filter(project=project, field="milestone").order_by("id"):
        if change.before and change.after:
            first.setdefault(change.before["id"], date.fromisoformat(change.before["due_on"]))
    return first


def _milestone_fact(row: Milestone, first_due_on: date, today: date) -> MilestoneFact:
    is_overdue = row.met_on is None and row.due_on < today
    is_late = is_overdue or row.due_on > first_due_on
    state = "met" if row.met_on else "slipped" if is_late else "planned"
    return MilestoneFact(row.pk, row.name, row.due_on, row.met_on, first_due_on, state, is_overdue)
