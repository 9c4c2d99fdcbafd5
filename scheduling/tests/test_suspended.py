"""REG2: no registration, no resources, by any path."""

import pytest

from kernel.errors import NotFound
from kernel.outbox import deliver_due
from projects import services as projects
from projects.models import Project
from projects.tests import factories as registry
from scheduling import events, services
from scheduling.errors import LaunchBlocked, NoLongerWanted, ProjectNotActive
from scheduling.models import Attempt, DeviceAllocation, Job
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def suspend(project: Project) -> None:
    projects.project_suspend(actor=make.admin(), project_id=project.pk, reason="under inquiry")


def suspend_unheard(project: Project) -> None:
    """Suspended, and the news not delivered yet: only what reads the project under lock can know."""
    Project.objects.filter(pk=project.pk).update(state="suspended")


def test_submit_and_clone_are_blocked() -> None:
    make.node()
    project = make.project()
    job = make.job(project)
    suspend_unheard(project)
    with pytest.raises(LaunchBlocked) as refused:
        make.job(project)
    assert "project" in refused.value.errors
    with pytest.raises(LaunchBlocked):
        services.job_clone(actor=project.created_by, job_id=job.pk)
    assert Job.objects.count() == 1


def test_a_queued_job_does_not_start() -> None:
    make.node()
    project = make.project()
    job = make.job(project)
    suspend_unheard(project)
    assert make.decide() == []
    job.refresh_from_db()
    assert job.reason_code == "project_state"


def test_an_assigned_job_is_refused_at_the_fetch_and_ends() -> None:
    fake = make.node()
    project = make.project()
    job = make.job(project)
    make.decide()
    [member] = make.members_of(job)
    suspend_unheard(project)
    with pytest.raises(NoLongerWanted):
        fake.fetch(member.pk)
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.CANCELLED, "project_state")
    assert not DeviceAllocation.objects.filter(released_at=None).exists()


def test_resume_and_requeue_are_refused() -> None:
    make.node()
    project = make.project()
    paused, cancelled = make.job(project), make.job(project)
    services.job_pause(actor=project.created_by, job_id=paused.pk)
    services.job_cancel(actor=project.created_by, job_id=cancelled.pk)
    suspend_unheard(project)
    with pytest.raises(ProjectNotActive):
        services.job_resume(actor=project.created_by, job_id=paused.pk)
    with pytest.raises(ProjectNotActive):
        services.job_requeue(actor=project.created_by, job_id=cancelled.pk)
    assert not Job.objects.filter(state=JobState.QUEUED).exists()


def test_a_retry_does_not_start_again() -> None:
    fake = make.node()
    project = make.project()
    job = make.running_job(project, [fake], max_retries=3)
    [member] = make.members_of(job)
    suspend_unheard(project)
    fake.end(member.pk, "lost", None)
    fake.sync()
    assert make.decide() == []
    assert Attempt.objects.count() == 1


@pytest.mark.parametrize("act", ["project_suspend", "project_close"])
def test_the_news_cancels_what_waits_and_stops_what_runs(act: str) -> None:
    fake = make.node()
    project = make.project()
    job = make.running_job(project, [fake])
    waiting = make.job(project)
    getattr(projects, act)(actor=make.admin(), project_id=project.pk, reason="over")
    deliver_due()
    waiting.refresh_from_db()
    job.refresh_from_db()
    assert (waiting.state, waiting.reason_code) == (JobState.CANCELLED, "project_state")
    assert job.state == JobState.STOPPING
    [order] = fake.sync().stop
    assert order.reason == "project"
    assert order.grace_s == 300
    fake.end(order.member_id, "stopped", None)
    fake.sync()
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.CANCELLED, "project_state")
    assert events.jobs_stop(project.pk) == 0  # the news again


def test_late_news_does_not_hurt_a_project_that_is_active_again() -> None:
    fake = make.node()
    project = make.project()
    suspend(project)
    projects.project_resume(actor=make.admin(), project_id=project.pk)
    job, waiting = make.running_job(project, [fake]), make.job(project)
    deliver_due()
    job.refresh_from_db()
    waiting.refresh_from_db()
    assert (job.state, waiting.state) == (JobState.RUNNING, JobState.QUEUED)


@pytest.mark.parametrize(("act", "left"), [("project_suspend", JobState.PAUSED), ("project_close", JobState.CANCELLED)])
def test_a_paused_job_waits_for_a_suspended_project_and_ends_with_a_closed_one(act: str, left: JobState) -> None:
    make.node()
    project = make.project()
    job = make.job(project)
    services.job_pause(actor=project.created_by, job_id=job.pk)
    getattr(projects, act)(actor=make.admin(), project_id=project.pk, reason="over")
    deliver_due()
    job.refresh_from_db()
    assert job.state == left


def test_a_draft_or_foreign_project_takes_no_job() -> None:
    make.node()
    draft = registry.draft_project()
    with pytest.raises(LaunchBlocked):
        make.job(draft)
    with pytest.raises(NotFound):
        make.job(make.project(), owner=make.person())
