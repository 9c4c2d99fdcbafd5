"""What waits for a person: each with where to answer it, oldest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Person, Role
from accounts.policies import has_role
from approvals.models import Approval
from approvals.selectors import answer_time, open_approvals, split_for, title_of_kind
from approvals.states import ApprovalState
from inventory.models import Node
from inventory.states import NodeState
from kernel import clock, form_drafts
from kernel.calendar import local_day
from kernel.formats import duration
from kernel.looks import model_title
from projects.content import REGISTRATION
from projects.models import Milestone, Project, ProjectRole, Question
from projects.policies import own_of
from projects.policies import visible_to as visible_projects
from projects.selectors import MilestoneFact, ProjectDetail, open_question
from projects.states import ProjectState
from projects.suitability import measurements_to_judge
from quotas.models import Resource
from quotas.selectors import live_claims

MOST = 200
SHOWN = 5
"""So many of a kind stand open; the rest folds with its count."""
SOON = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One line: what, about what, since when or how late, and the button that leads to the answer."""

    icon: str
    title: str
    about: str
    url: str = ""
    label: str = ""
    since: datetime | None = None
    late: str = ""
    tone: str = "waiting"
    project_id: int = 0
    milestone: MilestoneFact | Milestone | None = None
    may_answer: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """What waits of one kind: the oldest stand open, the rest folds."""

    title: str
    rows: Sequence[Waiting]
    shown: int = field(default=SHOWN)

    @property
    def open(self) -> Sequence[Waiting]:
        return self.rows[: self.shown]

    @property
    def folded(self) -> Sequence[Waiting]:
        return self.rows[self.shown :]


def waiting_for(person: Person) -> list[Group]:
    """Decisions and questions, milestones to answer, registrations to finish; kinds without any are left out."""
    rows = list(open_approvals(person))
    groups = (
        Group(_("Decisions"), _decisions(person, rows)),
        Group(_("Asked back"), _asked_back(person, rows)),
        Group(_("Approved, without a quota"), _without_quota(person)),
        Group(_("Measurements to confirm"), _measurements(person)),
        Group(_("Nodes to look at"), _nodes(person)),
        Group(_("Milestones to answer for"), _milestones(person)),
        Group(_("Your unfinished registrations"), [*_drafts(person), *_forms(person)]),
    )
    return [group for group in groups if group.rows]


def _without_quota(person: Person) -> list[Waiting]:
    """Approved and not one GPU promised: an admin grants it, or says why not. Never one's own."""
    if not has_role(person, Role.ADMIN):
        return []
    gpus = live_claims().filter(resource=Resource.GPU, project__isnull=False, during__contains=clock.now())
    rows = visible_projects(person).filter(state=ProjectState.ACTIVE).exclude(pk__in=own_of(person))
    rows = rows.exclude(pk__in=gpus.values("project")).order_by("updated_at", "pk")
    return [
        Waiting(
            "quotas",
            _("Grant a quota to “%(project)s”") % {"project": row.name},
            _("until then its jobs cannot be submitted"),
            f"{reverse('quotas:grant')}?project={row.pk}",
            _("Grant"),
            since=row.updated_at,
        )
        for row in rows[:MOST]
    ]


def _measurements(person: Person) -> list[Waiting]:
    if not has_role(person, Role.ADMIN):
        return []
    return [
        Waiting(
            "bolt",
            _("Confirm what “%(project)s” measured") % {"project": row.project.name},
            model_title(row.gpu_model.name),
            reverse("projects:suitability", args=[row.project_id]),
            _("Look"),
            since=row.stated_at,
        )
        for row in measurements_to_judge(person)[:MOST]
    ]


def _nodes(person: Person) -> list[Waiting]:
    """What an admin has to repair or clear: nodes that fell silent or are suspect."""
    if not has_role(person, Role.ADMIN):
        return []
    rows = Node.objects.filter(state__in=(NodeState.DOWN, NodeState.SUSPECT)).select_related("pool")
    return [_node(row) for row in rows.order_by("last_seen_at", "pk")[:MOST]]


def _node(row: Node) -> Waiting:
    is_down = row.state == NodeState.DOWN
    title = _("%(node)s is down") if is_down else _("%(node)s is suspect")
    return Waiting(
        "node-lost" if is_down else "alert",
        title % {"node": row.name},
        row.pool.title,
        reverse("node", args=[row.pk]),
        _("Open"),
        since=row.last_seen_at,
        tone="bad" if is_down else "waiting",
    )


def _forms(person: Person) -> list[Waiting]:
    """Forms that were begun and not sent yet."""
    return [
        Waiting("draft", row.title, _("typed, not sent yet"), row.address, _("Go on"), since=row.saved_at, tone="none")
        for row in form_drafts.unfinished(person.pk)
    ]


def of_project(person: Person, detail: ProjectDetail) -> list[Waiting]:
    """What waits about one project, and for whom: late and near milestones, open requests, the question."""
    project, today = detail.project, local_day(clock.now())
    found = _requests(person, project) if project.state in (ProjectState.ACTIVE, ProjectState.SUSPENDED) else []
    if project.state == ProjectState.SUBMITTED:
        found.append(_decision(detail))
    if project.state == ProjectState.DRAFT and "submit" in detail.can:
        found.append(_draft(project, is_asked=open_question(project) is not None))
    if project.state in (ProjectState.ACTIVE, ProjectState.SUSPENDED):
        found += [
            _due(row, may_answer="edit" in detail.can)
            for row in detail.milestones
            if row.met_on is None and row.due_on <= today + SOON
        ]
    return found


def _requests(person: Person, project: Project) -> list[Waiting]:
    """What the project asks for beside its registration, whoever decides it. One statement for who sees everything."""
    rows = open_approvals(person).filter(project_id=project.pk).exclude(kind=REGISTRATION)
    return [
        Waiting(
            "comment" if row.state == ApprovalState.RETURNED else "approval",
            row.title,
            _("asked back") if row.state == ApprovalState.RETURNED else _asked_by(row),
            reverse("approval", args=[row.pk]),
            _("Open"),
            since=row.submitted_at,
        )
        for row in rows[:MOST]
    ]


def _decision(detail: ProjectDetail) -> Waiting:
    """For who decides a button; for everybody else with whom it lies, and how long that usually takes."""
    project = detail.project
    if "approve" in detail.can:
        return Waiting(
            "approval",
            _("Decide on “%(project)s”") % {"project": project.name},
            _("registration by %(person)s") % {"person": project.submitted_by or "–"},
            reverse("projects:decide", args=[project.pk]),
            _("Decide"),
            since=project.updated_at,
        )
    usual = answer_time(clock.now(), kind=REGISTRATION)
    about = _("With the admins and directors")
    if usual is not None:
        about = _("With the admins and directors, typical answer %(length)s") % {"length": duration(usual.typical_s)}
    return Waiting("approval", _("The decision on the registration"), about, since=project.updated_at)


def _due(row: MilestoneFact, *, may_answer: bool) -> Waiting:
    late = local_day(clock.now()) - row.due_on
    if late.days > 0:
        title = _("“%(milestone)s” was due") % {"milestone": row.name}
        about = _("Met, or a new date?") if may_answer else _("With the lead")
        return Waiting(
            "calendar-late", title, about, late=_days_late(late), tone="bad", milestone=row, may_answer=may_answer
        )
    title = (
        _("“%(milestone)s” is due today") % {"milestone": row.name}
        if not late.days
        else ngettext("“%(milestone)s” is due in %(days)s day", "“%(milestone)s” is due in %(days)s days", -late.days)
        % {"milestone": row.name, "days": -late.days}
    )
    return Waiting("calendar", title, "", tone="none", milestone=row, may_answer=may_answer)


def _decisions(person: Person, rows: Sequence[Approval]) -> list[Waiting]:
    """What of these this person may decide now, by when the answer is due."""
    now = clock.now()
    mine, _others = split_for(person, [row for row in rows if row.state == ApprovalState.WAITING])
    return [
        Waiting(
            "approval",
            row.approval.title,
            _asked_by(row.approval),
            reverse("approval", args=[row.approval.pk]),
            _("Decide"),
            since=row.approval.submitted_at,
            late=_hours_late(now - row.approval.due_at) if row.approval.due_at and row.approval.due_at <= now else "",
        )
        for row in mine[:MOST]
    ]


def _asked_by(approval: Approval) -> str:
    words = {"kind": title_of_kind(approval), "person": approval.requester}
    return _("%(kind)s, asked by %(person)s") % words


def _hours_late(by: timedelta) -> str:
    return _("answer %(length)s late") % {"length": duration(by.total_seconds())}


def _asked_back(person: Person, rows: Sequence[Approval]) -> list[Waiting]:
    """What of these this person has to answer a question about. A registration stands among the drafts then."""
    returned = [row for row in rows if row.state == ApprovalState.RETURNED and row.requester_id == person.pk]
    return [
        Waiting(
            "comment",
            _("Answer the question on “%(title)s”") % {"title": row.title},
            title_of_kind(row),
            reverse("approval", args=[row.pk]),
            _("Answer"),
            since=row.submitted_at,
        )
        for row in returned[:MOST]
        if row.kind != REGISTRATION
    ]


def _milestones(person: Person) -> list[Waiting]:
    today = local_day(clock.now())
    led = Q(project__memberships__person=person, project__memberships__role=ProjectRole.LEAD)
    led &= Q(project__memberships__left_at__isnull=True, project__state=ProjectState.ACTIVE)
    late = Milestone.objects.filter(led, met_on__isnull=True, due_on__lt=today).select_related("project")
    return [_line(row, today - row.due_on) for row in late.order_by("due_on", "id")[:MOST]]


def _line(row: Milestone, late: timedelta) -> Waiting:
    title = _("Was “%(milestone)s” met?") % {"milestone": row.name}
    return Waiting(
        "calendar-late",
        title,
        row.project.name,
        late=_days_late(late),
        tone="bad",
        project_id=row.project_id,
        milestone=row,
        may_answer=True,
    )


def _days_late(by: timedelta) -> str:
    return ngettext("%(count)s day late", "%(count)s days late", by.days) % {"count": by.days}


def _drafts(person: Person) -> list[Waiting]:
    led = Q(memberships__person=person, memberships__role=ProjectRole.LEAD, memberships__left_at__isnull=True)
    asked = Question.objects.filter(project=OuterRef("pk"), answered_at=None)
    rows = visible_projects(person).filter(led, state=ProjectState.DRAFT).distinct().order_by("updated_at", "pk")
    rows = rows.annotate(is_asked=Exists(asked))
    return [_draft(project, is_asked=project.is_asked) for project in rows[:MOST]]


def _draft(project: Project, *, is_asked: bool) -> Waiting:
    """A registration that was returned waits for an answer, another for its end."""
    name = {"project": project.name or _("Draft without a name")}
    if is_asked:
        title, rest = _("Answer the question on “%(project)s”") % name, _("then submit it again")
    else:
        title, rest = _("Finish and submit “%(project)s”") % name, _("a draft gets no GPU")
    url = reverse("projects:edit", args=[project.pk])
    return Waiting("draft", title, rest, url, _("Go on"), since=project.updated_at, tone="none")


def counted(groups: Iterable[Group]) -> int:
    return sum(len(group.rows) for group in groups)
