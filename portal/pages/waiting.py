"""What waits for a person: each with where to answer it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Person, Role
from accounts.policies import has_role
from kernel import clock
from kernel.calendar import local_day
from projects.models import Milestone, Project, ProjectRole
from projects.policies import visible_to as visible_projects
from projects.selectors import ProjectDetail
from projects.states import ProjectState

MOST = 20


@dataclass(frozen=True, slots=True)
class Waiting:
    """One line: what, about what, since when or how late, and the button that leads to the answer."""

    icon: str
    title: str
    about: str
    url: str
    label: str
    since: datetime | None = None
    late: str = ""


def waiting_for(person: Person) -> list[Waiting]:
    """Submissions to decide, own drafts to finish, milestones to answer. Three statements."""
    return [*_submissions(person), *_milestones(person), *_drafts(person)]


def of_project(detail: ProjectDetail) -> list[Waiting]:
    """The same for one project's page; what it needs has been read with the project. No statement."""
    project, today = detail.project, local_day(clock.now())
    late = [
        _line(row.name, project, today - row.due_on)
        for row in detail.milestones
        if row.met_on is None and row.due_on < today and "edit" in detail.can
    ]
    if "approve" in detail.can:
        return [_submission(project), *late]
    if "submit" in detail.can:
        return [_draft(project), *late]
    return late


def _submissions(person: Person) -> list[Waiting]:
    """For those who decide; never one's own."""
    if not has_role(person, Role.ADMIN, Role.DIRECTOR):
        return []
    own = (
        Q(created_by=person) | Q(submitted_by=person) | Q(memberships__person=person, memberships__left_at__isnull=True)
    )
    rows = visible_projects(person).filter(state=ProjectState.SUBMITTED).exclude(pk__in=Project.objects.filter(own))
    return [_submission(project) for project in rows.select_related("submitted_by").order_by("updated_at")[:MOST]]


def _submission(project: Project) -> Waiting:
    title = _("Decide on “%(project)s”") % {"project": project.name}
    about = _("registration by %(person)s") % {"person": project.submitted_by or "–"}
    url = reverse("projects:decide", args=[project.pk])
    return Waiting("approval", title, about, url, _("Decide"), since=project.updated_at)


def _milestones(person: Person) -> list[Waiting]:
    today = local_day(clock.now())
    led = Q(project__memberships__person=person, project__memberships__role=ProjectRole.LEAD)
    led &= Q(project__memberships__left_at__isnull=True, project__state=ProjectState.ACTIVE)
    late = Milestone.objects.filter(led, met_on__isnull=True, due_on__lt=today).select_related("project")
    return [_line(row.name, row.project, today - row.due_on) for row in late.order_by("due_on", "id")[:MOST]]


def _line(name: str, project: Project, late: timedelta) -> Waiting:
    title = _("Was “%(milestone)s” met?") % {"milestone": name}
    url = reverse("projects:edit", args=[project.pk])
    return Waiting("calendar-late", title, project.name, url, _("Answer"), late=_days_late(late))


def _days_late(by: timedelta) -> str:
    return ngettext("%(count)s day late", "%(count)s days late", by.days) % {"count": by.days}


def _drafts(person: Person) -> list[Waiting]:
    led = Q(memberships__person=person, memberships__role=ProjectRole.LEAD, memberships__left_at__isnull=True)
    rows = visible_projects(person).filter(led, state=ProjectState.DRAFT).distinct().order_by("-updated_at")
    return [_draft(project) for project in rows[:MOST]]


def _draft(project: Project) -> Waiting:
    title = _("Finish and submit “%(project)s”") % {"project": project.name or _("Draft without a name")}
    url = reverse("projects:edit", args=[project.pk])
    return Waiting("draft", title, _("a draft gets no GPU"), url, _("Go on"), since=project.updated_at)
