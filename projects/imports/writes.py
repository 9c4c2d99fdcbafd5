"""Writing what was judged: the rows, history, roles and audit entries that registering and editing by hand write, many
at once. Called in one transaction with the import and the projects that are changed locked."""

from collections.abc import Sequence

from accounts.models import Person
from kernel import audit, clock
from projects.imports.checking import Judged
from projects.models import ComputeRequest, Milestone, Project, ProjectChange
from projects.services.drafts import edited
from projects.services.members import lead_new

BATCH = 1000


def write(judged: Sequence[Judged], owner: Person) -> None:
    """Register the new ones and change the others; afterwards each ``Judged`` has its saved project."""
    new = [row for row in judged if row.known is None]
    changed = [row for row in judged if row.known is not None]
    _register(new, owner)
    _edit(changed, owner)


def _register(rows: Sequence[Judged], owner: Person) -> None:
    projects = [_project(row) for row in rows]
    Project.objects.bulk_create(projects, batch_size=BATCH)
    compute = [asked for row in rows if row.compute for asked in row.compute.rows]
    milestones = [milestone for row in rows if row.milestones for _before, milestone in row.milestones.written]
    ComputeRequest.objects.bulk_create(compute, batch_size=BATCH)
    Milestone.objects.bulk_create(milestones, batch_size=BATCH)
    lead_new([(_project(row), row.lead or owner) for row in rows], by=owner)
    made = [audit.Change(project, None, {"name": project.name}) for project in projects]
    audit.record_many("project.created", actor=owner, changes=made)


def _edit(rows: Sequence[Judged], owner: Person) -> None:
    projects, now = [_project(row) for row in rows], clock.now()
    for project in projects:
        project.updated_at = now
    fields = sorted({line.field for row in rows for line in row.scalars})
    if projects:
        Project.objects.bulk_update(projects, [*fields, "updated_at"], batch_size=BATCH)
    _replace_compute(rows)
    _set_milestones(rows)
    lines = [(_project(row), row.lines()) for row in rows]
    ProjectChange.objects.bulk_create(
        [
            ProjectChange(project=project, field=line.field, before=line.before, after=line.after, at=now, by=owner)
            for project, of_project in lines
            for line in of_project
        ],
        batch_size=BATCH,
    )
    done = [edited(project, of_project) for project, of_project in lines]
    audit.record_many("project.edited", actor=owner, changes=done)


def _replace_compute(rows: Sequence[Judged]) -> None:
    plans = [(_project(row).pk, row.compute) for row in rows if row.compute and row.compute.before != row.compute.after]
    ComputeRequest.objects.filter(project__in=[pk for pk, _plan in plans]).delete()
    ComputeRequest.objects.bulk_create([asked for _pk, plan in plans for asked in plan.rows], batch_size=BATCH)


def _set_milestones(rows: Sequence[Judged]) -> None:
    plans = [row.milestones for row in rows if row.milestones]
    Milestone.objects.filter(pk__in=[row.pk for plan in plans for _before, row in plan.gone]).delete()
    written = [pair for plan in plans for pair in plan.written]
    kept = [row for before, row in written if before is not None]
    Milestone.objects.bulk_create([row for before, row in written if before is None], batch_size=BATCH)
    Milestone.objects.bulk_update(kept, ["name", "due_on", "met_on"], batch_size=BATCH)


def _project(row: Judged) -> Project:
    if row.project is None:
        raise RuntimeError(f"row {row.line} was refused and is not written")
    return row.project
