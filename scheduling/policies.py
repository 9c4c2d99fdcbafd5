"""Who may do what with jobs. A stranger is told that nothing exists; a member without the right is refused."""

from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import has_role
from kernel.errors import Forbidden
from projects import policies as projects_policies
from projects.models import Project, ProjectRole
from scheduling.models import Job


def require_read(person: Person, job: Job) -> None:
    """Members of the project, and director, admin and auditor, may read its jobs. Raises ``NotFound``."""
    projects_policies.require(person, "read", job.project)


def require_act(person: Person, job: Job) -> None:
    """Start, stop, pause, requeue: the job's owner while on the project, its lead, an admin.

    Raises ``NotFound`` for a stranger and ``Forbidden`` for anybody else who may read it.
    """
    require_read(person, job)
    if not can_act(person, job):
        raise Forbidden(_("Only its owner, the project's lead or an admin may do this with a job."))


def require_switch(person: Person, project: Project) -> None:
    """Make all waiting jobs of a project preemptible or not: its lead, an admin. Raises ``NotFound``, ``Forbidden``."""
    projects_policies.require(person, "read", project)
    if projects_policies.role_on(person, project) != ProjectRole.LEAD and not has_role(person, Role.ADMIN):
        raise Forbidden(_("Only the project's lead or an admin may do this with all of its jobs."))


def can_act(person: Person, job: Job) -> bool:
    """For screens: whether ``require_act`` would pass, for a job that the person may read."""
    role = projects_policies.role_on(person, job.project)
    is_own = role is not None and job.owner_id == person.pk
    return is_own or role == ProjectRole.LEAD or has_role(person, Role.ADMIN)
