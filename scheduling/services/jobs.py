"""A person submits a job, or a copy of one."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel import audit, clock
from kernel.errors import Invalid, NotFound
from kernel.ids import id_in
from kernel.unit import unit_of_work
from projects.models import Project
from projects.services.acts import as_now, begin
from scheduling import policies, wake
from scheduling.errors import LaunchBlocked
from scheduling.launch_check import CheckItem, blocks, launch_check
from scheduling.models import Job, JobLog
from scheduling.spec import JobSpec, require_well_formed

_COPIED = [f.name for f in dataclasses.fields(JobSpec) if f.name not in ("command", "gpu_models", "datasets", "env")]


def job_submit(*, actor: Person, project_id: int, spec: JobSpec) -> Job:
    """Put a job into the queue of an active project (REG2) and wake the scheduler once this has committed.

    Locks the project. Raises ``NotFound``, ``Forbidden``, ``Invalid`` (malformed) and ``LaunchBlocked`` (with
    every item of the pre-launch check).
    """
    with unit_of_work():
        # Under the lock, as rights are now: who was taken off the project meanwhile submits nothing.
        someone, project = begin(actor, project_id, "run_jobs")
        require_well_formed(spec)
        models = resolve_models(spec.gpu_models)
        items, is_foreign = launch_check(project, spec, models), get_language() != settings.LANGUAGE_CODE
        if blocking := blocks(items):
            raise LaunchBlocked(blocking, [item.plain() for item in items])
        with override(settings.LANGUAGE_CODE):
            # What is kept is English, whatever its owner reads: others will read it, too.
            job = _create(someone, project, spec, launch_check(project, spec, models) if is_foreign else items)
        job.gpu_models.set(models)
        JobLog.objects.create(job=job)
        audit.record("job.submit", actor=actor, subject=job, after=_facts(job))
        wake.wake_scheduler()
    return job


def job_clone(*, actor: Person, job_id: int, changes: Mapping[str, Any] | None = None) -> Job:
    """Submit the same again, as ``actor``, with some fields of ``JobSpec`` changed. Raises what submit raises."""
    job = Job.objects.select_related("project").filter(pk=job_id).first()
    if job is None:
        raise NotFound
    policies.require_read(as_now(actor), job)
    wrong = set(changes or ()) - {f.name for f in dataclasses.fields(JobSpec)}
    if wrong:
        raise Invalid({name: _("A job has no such field.") for name in sorted(wrong)})
    spec = dataclasses.replace(spec_of(job), **dict(changes or {}))
    return job_submit(actor=actor, project_id=job.project_id, spec=spec)


def spec_of(job: Job) -> JobSpec:
    """What was asked for when the job was submitted."""
    return JobSpec(
        command=tuple(job.command),
        gpu_models=tuple(model.name for model in job.gpu_models.order_by("id")),
        datasets=tuple(job.datasets),
        env=dict(job.env),
        **{name: getattr(job, name) for name in _COPIED},
    )


def resolve_models(wanted: tuple[str, ...]) -> list[GpuModel]:
    """GPU models by name or id, each once. Raises ``Invalid`` naming what does not exist."""
    if not wanted:
        return []
    ids = [pk for text in wanted if (pk := id_in(text)) is not None]
    known = list(GpuModel.objects.filter(name__in=wanted) | GpuModel.objects.filter(pk__in=ids))
    names = {model.name for model in known} | {str(model.pk) for model in known}
    missing = [text for text in wanted if text not in names]
    if missing:
        text = _("There is no GPU model “%(name)s”.") % {"name": ", ".join(missing)[:100]}
        raise Invalid({"gpu_models": text})
    return sorted(known, key=lambda model: model.pk)


def _create(actor: Person, project: Project, spec: JobSpec, items: list[CheckItem]) -> Job:
    now = clock.now()
    return Job.objects.create(
        project=project,
        owner=actor,
        command=list(spec.command),
        datasets=[dict(dataset) for dataset in spec.datasets],
        env=dict(spec.env),
        launch_check=[item.plain() for item in items],
        submitted_at=now,
        queued_at=now,
        **{name: getattr(spec, name) for name in _COPIED},
    )


def _facts(job: Job) -> dict[str, Any]:
    """For the audit log: the names of variables, never their values."""
    kept = {name: getattr(job, name) for name in _COPIED}
    return {**kept, "project": job.project_id, "command": job.command, "env": sorted(job.env)}
