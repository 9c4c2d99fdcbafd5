"""The pre-launch check as a dry run: nothing is written."""

from accounts.models import Person
from kernel.errors import NotFound
from projects import policies as projects_policies
from projects.models import Project
from scheduling.launch_check import CheckItem, launch_check
from scheduling.services.jobs import resolve_models
from scheduling.spec import JobSpec, require_well_formed


def launch_check_for(*, actor: Person, project_id: int, spec: JobSpec) -> list[CheckItem]:
    """What the check would say to this submission now. Raises ``NotFound``, ``Forbidden``, ``Invalid``."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        raise NotFound
    projects_policies.require(actor, "run_jobs", project)
    require_well_formed(spec)
    return launch_check(project, spec, resolve_models(spec.gpu_models))
