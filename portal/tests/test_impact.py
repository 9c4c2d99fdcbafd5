"""Before a project is suspended or closed, the question names how many jobs on how many GPUs, and whose."""

import pytest

from accounts.tests import factories as people
from portal.impact import jobs_hurt
from scheduling.tests import factories as jobs

pytestmark = pytest.mark.django_db


def test_nothing_runs() -> None:
    jobs.node("node-a")
    assert jobs_hurt(jobs.project()) == ["None of its jobs runs or waits."]


def test_running_and_waiting_jobs_are_named_before_the_project_is_closed() -> None:
    lead = people.person(display_name="Lena Lead")
    node = jobs.node("node-a")
    project = jobs.project(lead, gpus=4)
    jobs.running_job(project, [node], name="pretrain")
    jobs.job(project, lead, name="queued")
    lines = jobs_hurt(project)
    assert lines[0].startswith("1 job on ")
    assert lines[1] == "pretrain, Lena Lead"
    assert lines[-1] == "1 job that waits is cancelled."
    asked = people.browser(lead).get(f"/projects/{project.pk}/close").content.decode()
    assert all(line in asked for line in lines)
