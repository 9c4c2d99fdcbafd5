"""A job's life through the services and the agents' protocol, end to end."""

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Unauthenticated
from scheduling import selectors, services
from scheduling.models import AttemptMember, Charge, DeviceAllocation
from scheduling.states import Cause, JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_a_job_is_submitted_runs_and_succeeds() -> None:
    fake = make.node()
    project = make.project()
    job = make.job(project, max_runtime_s=600)
    assert make.decide() == [job.pk]
    [member] = make.members_of(job)
    job.refresh_from_db()
    assert job.state == JobState.STARTING

    reply = fake.sync()
    assert reply.run == (member.pk,)
    launch = fake.launches[member.pk]
    assert launch.command == ("python", "train.py")
    assert launch.fencing == 1
    assert [share.milli_gpu for share in launch.devices] == [1000]

    fake.run(member.pk)
    fake.sync()
    job.refresh_from_db()
    assert job.state == JobState.RUNNING

    fake.logs[member.pk] = b"step 1\nstep 2\n"
    fake.end(member.pk)
    reply = fake.sync()
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert reply.forget == ()  # the log is not there yet
    assert not DeviceAllocation.objects.filter(released_at=None).exists()
    assert Charge.objects.filter(project=project).count() == 1

    fake.send_logs()
    assert fake.sync().forget == (member.pk,)
    assert fake.held == {}
    assert AttemptMember.objects.get(pk=member.pk).is_forgotten
    assert selectors.log_read(job.pk, 5).data == b"1\nstep 2\n"
    [view] = selectors.job_detail(project.created_by, job.pk).attempts
    assert (view.state, view.cause, view.exit_code, view.node) == ("ended", Cause.FINISHED, 0, fake.name)


def test_a_gang_runs_as_one_and_ends_as_one() -> None:
    nodes = [make.node(gpus=4) for _ in range(2)]
    project = make.project(gpus=8)
    job = make.running_job(project, nodes, milli_gpus=8000, nodes_exact=2)
    assert job.state == JobState.RUNNING
    first, second = make.members_of(job)
    ranks = {node.node.pk: node for node in nodes}
    ranks[first.node_id].end(first.pk, code=3)
    ranks[first.node_id].sync()
    job.refresh_from_db()
    assert job.state == JobState.RUNNING  # the other one still holds its devices

    reply = ranks[second.node_id].sync()
    assert [(order.member_id, order.reason) for order in reply.stop] == [(second.pk, "superseded")]
    ranks[second.node_id].end(second.pk, "stopped", None)
    ranks[second.node_id].sync()
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.FAILED, "exit_code")
    attempt = make.attempt_of(job)
    assert (attempt.cause, attempt.exit_code) == (Cause.FINISHED, 3)


def test_fifty_jobs_start_in_one_decision() -> None:
    make.node(gpus=60)
    project = make.project(gpus=60, limit=60)
    jobs = [make.job(project, name=f"job {n}").pk for n in range(50)]
    [done] = services.decide_and_apply(clock.now())
    assert list(done.started) == jobs


def test_rights_are_those_of_now_not_of_the_sign_in() -> None:
    make.node()
    lead, admin = make.person(), make.admin()
    project = make.project(lead)
    job = make.job(project)
    acts = (services.job_pause, services.job_cancel, services.job_resume, services.job_requeue)
    remembered = Person.objects.get(pk=lead.pk)
    assert remembered.is_active
    people.off_board(lead, actor=admin, successors={str(project.pk): None})
    for act in acts:
        with pytest.raises(Unauthenticated):
            act(actor=remembered, job_id=job.pk)
    with pytest.raises(Unauthenticated):
        make.job(project, remembered)
    with pytest.raises(Unauthenticated):
        services.job_clone(actor=remembered, job_id=job.pk)
