"""Two connections at the same thing: one wins, the other sees what it did."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from agent.messages import Hardware
from inventory.tests import factories as hardware
from kernel import clock
from kernel.errors import Conflict, LockTimeout
from kernel.unit import lock, unit_of_work
from projects.models import Project
from scheduling import selectors, services
from scheduling.errors import LaunchBlocked, NoLongerWanted
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Earmark, Interruption, Job
from scheduling.policy import Choices
from scheduling.states import AttemptState, JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


class Other:
    """Something that another connection does at the same time."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.result: object = None
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._act()
        except Exception as error:  # noqa: BLE001 - handed to the test
            self.error = error
        finally:
            connection.close()

    def join(self) -> "Other":
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self


@contextmanager
def held(row: Job | Project) -> Iterator[None]:
    """Hold a row's lock in this connection, and give it free at the end."""
    with transaction.atomic():
        type(row).objects.select_for_update().get(pk=row.pk)
        yield


def test_one_leader_at_a_time() -> None:
    """The second finds the leader's lock taken and leaves; nothing starts twice."""
    make.node()
    project = make.project()
    job = make.job(project)
    with held(project):
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        assert services.decide_and_apply(clock.now()) == []
    leader.join()
    assert leader.error is None
    assert Attempt.objects.filter(job=job).count() == 1


def test_many_leaders_and_many_jobs_never_give_a_device_twice() -> None:
    make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    jobs = [make.job(project) for _ in range(6)]

    def decide() -> None:
        services.decide_and_apply(clock.now())
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(decide) for _ in range(8)]:
            done.result(60)
    assert Attempt.objects.count() == 4
    assert DeviceAllocation.objects.values("device").distinct().count() == 4
    assert Job.objects.filter(pk__in=[job.pk for job in jobs], state=JobState.QUEUED).count() == 2


def test_a_job_cancelled_while_it_is_decided_does_not_start() -> None:
    """The decision has seen it queued and waits for its lock; the cancel commits first."""
    make.node()
    project = make.project()
    job = make.job(project)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=job.pk)
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        services.job_cancel(actor=job.owner, job_id=job.pk)
    leader.join()
    job.refresh_from_db()
    assert (leader.error, job.state) == (None, JobState.CANCELLED)
    assert not Attempt.objects.exists()
    assert not DeviceAllocation.objects.exists()


def test_a_decision_does_not_wait_for_a_job_that_it_only_gives_a_reason() -> None:
    make.node()
    project = make.project(gpus=1, limit=1)
    first, second = make.job(project), make.job(project)
    with held(second):
        leader = Other(lambda: services.decide_and_apply(clock.now())).join()
    assert leader.error is None
    assert Attempt.objects.get().job_id == first.pk
    services.decide_and_apply(clock.now())
    second.refresh_from_db()
    assert second.reason_code == "limit"


def test_a_project_suspended_while_its_job_is_decided_starts_nothing() -> None:
    make.node()
    project = make.project()
    job = make.job(project)
    with held(project):
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        Project.objects.filter(pk=project.pk).update(state="suspended")
    leader.join()
    job.refresh_from_db()
    assert (leader.error, job.state, job.reason_code) == (None, JobState.QUEUED, "project_state")


def test_a_quota_lowered_while_its_job_is_decided_starts_nothing() -> None:
    make.node()
    project = make.project(gpus=4, limit=4)
    job = make.job(project, milli_gpus=4000)
    with held(project):
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        make.grant(project, 2, 2)
    leader.join()
    job.refresh_from_db()
    assert (leader.error, job.state, job.reason_code) == (None, JobState.QUEUED, "limit")


def test_a_submission_waits_for_a_suspension_and_sees_it() -> None:
    make.node()
    project = make.project()
    with held(project):
        submission = Other(lambda: make.job(project))
        make.wait_until_someone_waits_for_a_lock()
        Project.objects.filter(pk=project.pk).update(state="suspended")
    assert isinstance(submission.join().error, LaunchBlocked)
    assert not Job.objects.exists()


def test_cancel_and_fetch_at_once_leave_nothing_running_unseen() -> None:
    """Whichever comes first: either the fetch is refused, or the cancel waits for the node's word."""
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    fetch = Other(lambda: services.launch_for(node=fake.node, member_id=member.pk))
    cancel = Other(lambda: services.job_cancel(actor=job.owner, job_id=job.pk))
    fetch.join()
    cancel.join()
    job.refresh_from_db()
    assert cancel.error is None
    if fetch.error is None:
        assert job.state == JobState.STOPPING
        assert make.attempt_of(job).state != AttemptState.ENDED
    else:
        assert isinstance(fetch.error, NoLongerWanted)
        assert job.state == JobState.CANCELLED


def test_a_report_that_charges_a_project_does_not_wait_for_who_holds_it() -> None:
    """Somebody holds the project and waits for the job; the report holds the job and writes for the project."""
    fake = make.node()
    project = make.project()
    job = make.running_job(project, [fake])
    [member] = make.members_of(job)
    fake.end(member.pk)

    def hold_both() -> None:
        with unit_of_work():
            lock({Project: [project.pk], Job: [job.pk]})

    with transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=job.pk)
        other = Other(hold_both)
        make.wait_until_someone_waits_for_a_lock()
        fake.sync()
    assert other.join().error is None
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED


def test_the_same_message_twice_at_once_ends_a_job_once() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.end(member.pk)
    message = fake.message()
    sends = [Other(lambda: fake.send(message)) for _ in range(3)]
    assert [send.join().error for send in sends] == [None, None, None]
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert DeviceAllocation.objects.get().charges.count() == 1


def test_pieces_of_one_log_at_once_lie_one_after_another() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    data = bytes(range(256))

    def append() -> int:
        return services.log_append(node=fake.node, member_id=member.pk, offset=0, data=data)

    sends = [Other(append) for _ in range(4)]
    assert {send.join().result for send in sends} == {256}
    assert selectors.log_read(job.pk).data == data


def test_a_lock_that_cannot_be_had_is_a_named_refusal() -> None:
    make.node()
    job = make.job(make.project())
    with held(job):
        cancel = Other(lambda: services.job_cancel(actor=job.owner, job_id=job.pk)).join()
    assert isinstance(cancel.error, LockTimeout)
    assert isinstance(cancel.error, Conflict)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def guest_in_the_way() -> tuple[Job, Job]:
    """A running job that must give way at once, and the job that wants its GPUs."""
    fake = make.node(gpus=2)
    services.policy_set(actor=make.admin(), choices=Choices(min_runtime_s=0), seen_version=0)
    owner, guest = make.project(gpus=2, limit=2), make.project(gpus=0, limit=2)
    victim = make.running_job(guest, [fake], milli_gpus=2000, is_preemptible=True)
    return make.job(owner, milli_gpus=2000), victim


def test_a_newcomer_cancelled_while_it_is_decided_stops_nobody() -> None:
    newcomer, victim = guest_in_the_way()
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=newcomer.pk)
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        services.job_cancel(actor=newcomer.owner, job_id=newcomer.pk)
    leader.join()
    victim.refresh_from_db()
    assert (leader.error, victim.state) == (None, JobState.RUNNING)
    assert not Earmark.objects.exists()


def test_a_victim_that_ends_while_it_is_decided_is_not_interrupted() -> None:
    """The decision is dropped whole; the next one starts the newcomer on what is free by itself."""
    newcomer, victim = guest_in_the_way()
    [member] = make.members_of(victim)
    fake = make.FakeNode(member.node.name, member.node, hardware_of(member))
    fake.held[member.pk] = make.running_report(member.pk)
    fake.sequence = 100
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=victim.pk)
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        fake.end(member.pk)
        fake.sync()
    leader.join()
    victim.refresh_from_db()
    newcomer.refresh_from_db()
    assert (leader.error, victim.state, newcomer.state) == (None, JobState.SUCCEEDED, JobState.STARTING)
    assert not Interruption.objects.exists()


def hardware_of(member: AttemptMember) -> Hardware:
    return hardware.hardware(member.node.name, 2, make.MODEL)


def test_a_quota_cut_while_its_victims_are_chosen_stops_nobody() -> None:
    newcomer, victim = guest_in_the_way()
    with held(newcomer.project):
        leader = Other(lambda: services.decide_and_apply(clock.now()))
        make.wait_until_someone_waits_for_a_lock()
        make.grant(newcomer.project, 1, 1)
    leader.join()
    victim.refresh_from_db()
    newcomer.refresh_from_db()
    assert (leader.error, victim.state, newcomer.state) == (None, JobState.RUNNING, JobState.QUEUED)
    assert newcomer.reason_code in ("limit", "guarantee")


def test_two_leaders_interrupt_a_job_once() -> None:
    _newcomer, victim = guest_in_the_way()

    def tick() -> None:
        services.decide_and_apply(clock.now())
        connection.close()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(tick) for _ in range(6)]:
            done.result(60)
    victim.refresh_from_db()
    assert victim.state == JobState.STOPPING
    assert (Interruption.objects.count(), Earmark.objects.count()) == (1, 1)
