"""A new job: the form, its check while one types, and the submission."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import idempotency
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors
from kernel.ids import NO_ROW, id_in
from kernel.unit import unit_of_work
from projects.models import Project
from projects.policies import visible_to as visible_projects
from projects.states import ProjectState
from scheduling import services
from scheduling.commands import text_of
from scheduling.engine import MILLI
from scheduling.forms import FIELD_OF, HOUR, MINUTE, JobForm
from scheduling.launch_check import blocks
from scheduling.models import Job
from scheduling.selectors import visible_to
from scheduling.selectors.checks import launch_check_for
from scheduling.spec import JobSpec


class NewJob(View):
    """The form, filled from ``?project=`` or from another job by ``?clone=``."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        projects = own_projects(person)
        initial = _initial(person, projects, request.GET)
        return self._page(request, JobForm(initial=initial, projects=projects), projects, uuid4().hex)

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        projects = own_projects(person)
        form = JobForm(request.POST, projects=projects)
        once = request.POST.get("once", "")[:64] or uuid4().hex
        if not form.is_valid():
            return self._page(request, form, projects, once)
        try:
            job_id = _submit_once(person, form, once, request.POST.urlencode())
        except Invalid as refusal:
            add_errors(form, _renamed(refusal))
            return self._page(request, form, projects, once)
        messages.success(request, _("Job %(id)s was submitted.") % {"id": job_id})
        return redirect("scheduling:job", job_id)

    def _page(self, request: HttpRequest, form: JobForm, projects: list[Project], once: str) -> HttpResponse:
        context = {"form": form, "projects": projects, "once": once}
        return render(request, "scheduling/new.html", context, status=422 if form.errors else 200)


@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """The launch check of what is typed now, as a part of the form's page. Nothing is written."""
    person = require_signed_in(request.user)
    form = JobForm(request.POST, projects=own_projects(person))
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        spec = form.spec()
        context["command"] = spec.command
        try:
            context["items"] = launch_check_for(actor=person, project_id=form.cleaned_data["project"].pk, spec=spec)
            context["is_blocked"] = bool(blocks(context["items"]))
        except Invalid as refusal:
            add_errors(form, _renamed(refusal))
    return render(request, "scheduling/_check_now.html", {**context, **_said(form)})


def _said(form: JobForm) -> dict[str, Any]:
    """What is only empty so far, and what is wrong, each by its label."""
    missing, faults = [], []
    for name, errors in form.errors.as_data().items():
        label = form.fields[name].label if name in form.fields else ""
        texts = [text for error in errors for text in error.messages]
        if all(error.code == "required" for error in errors):
            missing.append(label)
        else:
            faults += [(label, text) for text in texts]
    return {"missing": missing, "faults": faults}


def own_projects(person: Person) -> list[Project]:
    """Active projects of which the person is a member: where a job may be submitted."""
    rows = visible_projects(person).filter(
        state=ProjectState.ACTIVE, memberships__person=person, memberships__left_at__isnull=True
    )
    return list(rows.distinct().order_by("name"))


def _submit_once(person: Person, form: JobForm, once: str, body: str) -> int:
    """The job's id; sending the same form again finds the job instead of making another."""
    fingerprint = idempotency.request_hash("POST", "/jobs/new/", body.encode())
    with unit_of_work():
        stored = idempotency.claim(actor=person, key=f"form-{once}", fingerprint=fingerprint)
        if stored is not None:
            return int(stored.body["job"])
        job = services.job_submit(actor=person, project_id=form.cleaned_data["project"].pk, spec=form.spec())
        idempotency.store(actor=person, key=f"form-{once}", status=201, body={"job": job.pk})
    return job.pk


def _renamed(refusal: Invalid) -> Invalid:
    """The same refusal with the names of the form's fields."""
    return Invalid({FIELD_OF.get(name, name): texts for name, texts in refusal.errors.items()})


def _initial(person: Person, projects: list[Project], asked: Any) -> dict[str, Any]:
    if clone := asked.get("clone", ""):
        job = visible_to(person).filter(pk=id_in(clone) or NO_ROW).first()
        if job is None:
            raise NotFound
        return _initial_from(job, services.spec_of(job))
    wanted = [project for project in projects if str(project.pk) == asked.get("project")]
    chosen = (wanted or projects)[:1]
    return {"project": chosen[0].pk} if chosen else {}


def _initial_from(job: Job, spec: JobSpec) -> dict[str, Any]:
    """The form's values that stand for this specification."""
    return {
        "project": job.project_id,
        "name": spec.name,
        "command": text_of(spec.command),
        "gpu_models": list(spec.gpu_models),
        "gpus": f"{spec.milli_gpus / MILLI:g}",
        "nodes_exact": spec.nodes_exact,
        "cpus": spec.cpus or None,
        "memory_gib": f"{spec.memory_bytes / 2**30:g}" if spec.memory_bytes else None,
        "gpu_memory_gib": f"{spec.gpu_memory_bytes / 2**30:g}" if spec.gpu_memory_bytes else None,
        "interconnect": spec.interconnect,
        "is_exclusive": spec.is_exclusive,
        "shares_device": spec.shares_device,
        "is_preemptible": spec.is_preemptible,
        "priority": spec.priority,
        "max_runtime_h": _amount(spec.max_runtime_s, HOUR),
        "grace_m": _amount(spec.grace_s, MINUTE),
        "max_retries": spec.max_retries,
        "env": "\n".join(f"{name}={value}" for name, value in spec.env.items()),
        "datasets": "\n".join(f"{row.get('path', '')} {row.get('version', '')}".strip() for row in spec.datasets),
        "checkpoint_dir": spec.checkpoint_dir,
        "checkpoint_interval_m": _amount(spec.checkpoint_interval_s, MINUTE),
        "signal": spec.signal,
    }


def _amount(seconds: int | None, unit: int) -> str | None:
    return None if seconds is None else f"{seconds / unit:.2f}".rstrip("0").rstrip(".")
