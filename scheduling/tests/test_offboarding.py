"""The jobs of somebody who leaves go on, are named in the report, and have somebody who can end them."""

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from scheduling import services
from scheduling.models import Job
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_jobs_go_on_and_the_new_lead_manages_them() -> None:
    node = make.node()
    leaver, heir, admin = people.person("leaver"), people.person("heir"), people.admin()
    project = make.project(leaver)
    running = make.running_job(project, [node], name="long-run")
    waiting = make.job(project, leaver, name="waits")
    page = people.browser(admin).get(f"/people/{leaver.pk}/deactivate/").content.decode()
    assert "long-run" in page
    report = people.off_board(leaver, actor=admin, successors={str(project.pk): heir.pk})
    running.refresh_from_db()
    waiting.refresh_from_db()
    assert (running.state, waiting.state) == (JobState.RUNNING, JobState.QUEUED)
    named = {
        row["what"]: [item["name"] for item in row["items"]] for row in report.lines if row["room"] == "scheduling"
    }
    assert named == {"running": ["long-run"], "waiting": ["waits"]}
    for job in (running, waiting):
        services.job_cancel(actor=Person.objects.get(pk=heir.pk), job_id=job.pk)
    assert Job.objects.get(pk=waiting.pk).state == JobState.CANCELLED
    assert Job.objects.get(pk=running.pk).state == JobState.STOPPING


def test_an_admin_manages_the_jobs_of_a_project_without_a_lead() -> None:
    make.node()
    leaver, admin = people.person("leaver"), people.admin()
    project = make.project(leaver)
    waiting = make.job(project, leaver)
    people.off_board(leaver, actor=admin, successors={str(project.pk): None})
    services.job_cancel(actor=admin, job_id=waiting.pk)
    assert Job.objects.get(pk=waiting.pk).state == JobState.CANCELLED


def test_jobs_that_are_over_are_not_in_the_report() -> None:
    make.node()
    leaver, admin = people.person("leaver"), people.admin()
    project = make.project(leaver)
    services.job_cancel(actor=leaver, job_id=make.job(project, leaver).pk)
    report = people.off_board(leaver, actor=admin, successors={str(project.pk): None})
    assert not [row for row in report.lines if row["room"] == "scheduling"]
