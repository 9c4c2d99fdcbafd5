"""All waiting jobs of a project are made preemptible, or no longer so (JOB3)."""

import pytest

from accounts.tests import factories as people
from kernel.errors import Forbidden, NotFound
from kernel.models import AuditEntry
from scheduling import services
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_what_waits_is_switched_and_what_runs_stays_as_it_started() -> None:
    fake = make.node(gpus=2)
    project, other = make.project(gpus=1, limit=2), make.project(gpus=1, limit=2)
    running, waiting = make.running_job(project, [fake]), make.job(project)
    assert make.decide() == [], "not preemptible, and the guarantee is in use"
    lead = project.created_by
    assert services.jobs_switch(actor=lead, project_id=project.pk, is_preemptible=True) == [waiting.pk]
    assert services.jobs_switch(actor=lead, project_id=project.pk, is_preemptible=True) == []
    assert AuditEntry.objects.filter(action="jobs.switch").count() == 2
    foreign = make.job(other)
    running.refresh_from_db()
    assert (running.is_preemptible, foreign.is_preemptible) == (False, False)
    services.job_cancel(actor=foreign.owner, job_id=foreign.pk)
    # As a preemptible job it may use an idle GPU above the guarantee.
    assert make.decide() == [waiting.pk]


def test_who_may() -> None:
    make.node(gpus=1)
    researcher = people.person("helper")
    project = make.project(gpus=1, limit=1, researchers=(researcher,))
    for someone, refusal in ((researcher, Forbidden), (people.director(), Forbidden), (people.person(), NotFound)):
        with pytest.raises(refusal):
            services.jobs_switch(actor=someone, project_id=project.pk, is_preemptible=True)
    assert services.jobs_switch(actor=make.admin(), project_id=project.pk, is_preemptible=True) == []
