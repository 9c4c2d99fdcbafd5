"""Messages of nodes that come twice, late, out of order or not at all: what runs, runs once."""

from datetime import timedelta

import pytest

from kernel import clock
from kernel.errors import NotFound
from kernel.models import StateChange
from scheduling import services
from scheduling.errors import NoLongerWanted
from scheduling.models import Attempt, AttemptMember, Charge, DeviceAllocation, Job
from scheduling.services.release import exit_of
from scheduling.services.reports import SETTLE
from scheduling.states import AttemptState, Cause, JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def state(job: Job) -> str:
    return Job.objects.values_list("state", flat=True).get(pk=job.pk)


def test_the_same_message_again_changes_nothing() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.end(member.pk, code=0)
    message = fake.message()
    fake.send(message)
    rows = (Charge.objects.count(), StateChange.objects.count())
    fake.send(message)
    fake.send(message)
    assert (Charge.objects.count(), StateChange.objects.count()) == rows
    assert state(job) == JobState.SUCCEEDED


def test_an_older_message_that_comes_late_changes_nothing() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    late = fake.message()
    without_it = make.replace_sync(late, members=())
    fake.logs[member.pk] = b"not sent yet"
    fake.end(member.pk)
    fake.sync()
    for old in (late, without_it):
        reply = fake.send(old)
        assert reply.forget == ()
        assert state(job) == JobState.SUCCEEDED
        assert not AttemptMember.objects.get(pk=member.pk).is_forgotten


def test_a_lost_push_is_healed_by_the_next_sync() -> None:
    """The message to the node's queue is a hint: nobody reads it here, and the job starts all the same."""
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    assert fake.send(fake.message()).run == (member.pk,)
    assert fake.send(fake.message()).run == (member.pk,)  # told until it is reported
    fake.fetch(member.pk)
    assert fake.send(fake.message()).run == ()


def test_a_launch_is_the_same_however_often_it_is_fetched() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    assert fake.fetch(member.pk) == fake.fetch(member.pk)
    with pytest.raises(NotFound):
        make.node().fetch(member.pk)
    with pytest.raises(NotFound):
        fake.fetch(member.pk + 999)


def test_reports_in_the_wrong_order_never_go_back() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.held[member.pk] = make.replace_report(fake.held[member.pk], state="starting")
    fake.sync()
    assert make.members_of(job)[0].state == AttemptState.RUNNING
    assert state(job) == JobState.RUNNING


def test_a_job_that_was_never_seen_starting_may_be_seen_ended() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    fake.fetch(member.pk)
    fake.end(member.pk, code=0)
    fake.sync()
    assert state(job) == JobState.SUCCEEDED


def test_silence_is_unknown_and_unknown_is_never_started_again() -> None:
    fake, spare = make.node(), make.node()
    job = make.running_job(make.project(), [fake, spare], milli_gpus=4000)
    [member] = make.members_of(job)
    silent = fake if member.node_id == fake.node.pk else spare
    make.fall_silent(silent)
    assert services.members_lose_sight() == 1
    attempt = make.attempt_of(job)
    assert (attempt.state, state(job)) == (AttemptState.UNKNOWN, JobState.RUNNING)
    assert services.members_lose_sight() == 0
    for _ in range(3):
        assert make.decide() == []
    assert Attempt.objects.filter(job=job).count() == 1
    assert DeviceAllocation.objects.filter(released_at=None).count() == 4

    silent.sync()
    attempt.refresh_from_db()
    assert (attempt.state, state(job)) == (AttemptState.RUNNING, JobState.RUNNING)


def test_a_node_that_comes_back_with_an_ended_job_ends_it_once() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    make.fall_silent(fake)
    services.members_lose_sight()
    fake.boot_id, fake.sequence = "boot-2", 0
    fake.end(member.pk, code=0)
    fake.sync()
    assert state(job) == JobState.SUCCEEDED
    assert Attempt.objects.filter(job=job).count() == 1


def test_what_a_silent_node_never_fetched_goes_elsewhere() -> None:
    """Nothing of it can run there: the launch is refused from now on."""
    fake, spare = make.node(), make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    silent, other = (fake, spare) if member.node_id == fake.node.pk else (spare, fake)
    make.fall_silent(silent)
    services.members_lose_sight()
    assert state(job) == JobState.QUEUED
    with pytest.raises(NoLongerWanted):
        silent.fetch(member.pk)
    assert make.decide() == [job.pk]
    assert make.members_of(job)[0].node_id == other.node.pk
    assert make.attempt_of(job).number == 2


def test_a_fetched_launch_of_a_silent_node_waits_and_is_run_when_it_is_back() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    services.launch_for(node=fake.node, member_id=member.pk)
    make.fall_silent(fake)
    services.members_lose_sight()
    assert make.attempt_of(job).state == AttemptState.UNKNOWN
    reply = fake.send(fake.message())
    assert reply.run == (member.pk,)  # the same launch key: a node starts it once in its life
    assert make.attempt_of(job).state == AttemptState.STARTING


def test_a_member_that_its_node_no_longer_names_is_lost_after_a_while() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.held.clear()
    fake.sync()
    assert state(job) == JobState.RUNNING  # messages may overtake each other
    AttemptMember.objects.update(last_report_at=clock.now() - SETTLE - timedelta(seconds=1))
    fake.sync()
    attempt = make.attempt_of(job)
    assert (attempt.cause, state(job)) == (Cause.NODE_LOST, JobState.QUEUED)
    assert exit_of(AttemptMember.objects.get(pk=member.pk)).cause == "lost"


def test_a_node_declared_lost_is_superseded_when_it_comes_back() -> None:
    fake, spare = make.node(), make.node()
    job = make.running_job(make.project(), [fake, spare], milli_gpus=4000)
    [member] = make.members_of(job)
    lost, other = (fake, spare) if member.node_id == fake.node.pk else (spare, fake)
    make.fall_silent(lost)
    services.members_lose_sight()
    [requeued] = services.node_declare_lost(actor=make.admin(), node_id=lost.node.pk, reason="burnt")
    assert (requeued.pk, requeued.state) == (job.pk, JobState.QUEUED)
    assert make.attempt_of(job).cause == Cause.NODE_LOST
    held = DeviceAllocation.objects.filter(device__node=lost.node, released_at=None)
    assert held.count() == 4  # until the node confirms, nobody else gets them
    make.decide()
    assert make.members_of(job)[0].node_id == other.node.pk

    lost.boot_id, lost.sequence = "boot-2", 0
    [order] = lost.sync().stop
    assert (order.member_id, order.reason) == (member.pk, "superseded")
    assert held.count() == 4
    lost.end(member.pk, "stopped", None)
    assert lost.sync().forget == (member.pk,)
    assert held.count() == 0
    assert Attempt.objects.filter(job=job).exclude(state="ended").count() == 1


def test_a_report_with_another_fencing_number_is_stopped_and_not_believed() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.held[member.pk] = make.replace_report(fake.held[member.pk], fencing=7)
    [order] = fake.sync().stop
    assert (order.fencing, order.reason) == (7, "superseded")
    assert state(job) == JobState.RUNNING


def test_what_the_portal_does_not_know_is_stopped_then_forgotten() -> None:
    fake = make.node()
    fake.held[4711] = make.running_report(4711)
    [order] = fake.sync().stop
    assert (order.member_id, order.reason) == (4711, "superseded")
    fake.end(4711)
    assert fake.sync().forget == (4711,)


def test_forget_comes_only_when_the_log_is_whole() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.logs[member.pk] = b"x" * 10
    fake.end(member.pk)
    assert fake.sync().forget == ()
    services.log_append(node=fake.node, member_id=member.pk, offset=0, data=b"x" * 9)
    assert fake.sync().forget == ()
    services.log_append(node=fake.node, member_id=member.pk, offset=9, data=b"x")
    assert fake.sync().forget == (member.pk,)


def test_a_launch_that_failed_is_tried_three_times_then_not_launchable() -> None:
    fake = make.node()
    job = make.job(make.project())
    for attempt in range(1, 4):
        Job.objects.filter(pk=job.pk).update(not_before=None)
        assert make.decide() == [job.pk]
        [member] = make.members_of(job)
        fake.fetch(member.pk)
        fake.end(member.pk, "launch_failed", None, "no such program: pyhton")
        fake.sync()
        job.refresh_from_db()
        assert make.attempt_of(job).number == attempt
    assert (job.state, job.reason_code) == (JobState.FAILED, "not_launchable")
    assert "no such program: pyhton" in job.reason


def test_a_failing_job_waits_longer_each_time_and_fails_after_its_retries() -> None:
    fake = make.node()
    job = make.job(make.project(), max_retries=1)
    first_queued_at = job.queued_at
    for expected in (JobState.QUEUED, JobState.FAILED):
        make.decide()
        [member] = make.members_of(job)
        fake.fetch(member.pk)
        fake.end(member.pk, code=1)
        fake.sync()
        job.refresh_from_db()
        assert job.state == expected
        if expected == JobState.QUEUED:
            assert job.not_before is not None
            assert job.not_before > clock.now()
            assert make.decide() == []
            job.refresh_from_db()
            assert job.reason_code == "backoff"
            assert job.queued_at == first_queued_at
            Job.objects.filter(pk=job.pk).update(not_before=None)
    assert "after 1 retries" in job.reason
    services.job_requeue(actor=job.owner, job_id=job.pk)
    assert make.decide() == [job.pk]  # a person's act gives it all its tries again


def test_a_node_that_shuts_down_costs_no_retry() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.end(member.pk, "node_shutdown", None)
    fake.sync()
    job.refresh_from_db()
    assert (job.state, job.reason_code, job.not_before) == (JobState.QUEUED, "node_lost", None)


def test_pause_says_paused_only_when_the_processes_have_ended() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake], checkpoint_dir="/ckpt")
    [member] = make.members_of(job)
    services.job_pause(actor=job.owner, job_id=job.pk)
    assert state(job) == JobState.PAUSING
    [order] = fake.sync().stop
    assert (order.reason, order.signal) == ("user", "SIGTERM")
    fake.held[member.pk] = make.replace_report(fake.held[member.pk], newest_checkpoint_at=clock.now())
    fake.end(member.pk, "stopped", None)
    fake.sync()
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.PAUSED, "paused")
    services.job_resume(actor=job.owner, job_id=job.pk)
    assert make.decide() == [job.pk]
    assert make.attempt_of(job).number == 2


def test_cancel_of_a_job_that_no_node_has_fetched_frees_its_devices_at_once() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    services.job_cancel(actor=job.owner, job_id=job.pk)
    assert state(job) == JobState.CANCELLED
    assert not DeviceAllocation.objects.filter(released_at=None).exists()
    with pytest.raises(NoLongerWanted):
        fake.fetch(member.pk)
    assert fake.sync().run == ()


def test_cancel_between_fetch_and_first_report_stops_what_appears() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    services.launch_for(node=fake.node, member_id=member.pk)
    services.job_cancel(actor=job.owner, job_id=job.pk)
    assert state(job) == JobState.STOPPING
    assert fake.send(fake.message()).run == ()
    fake.held[member.pk] = make.running_report(member.pk, fencing=1)
    assert [order.member_id for order in fake.sync().stop] == [member.pk]
    fake.end(member.pk, "stopped", None)
    fake.sync()
    assert state(job) == JobState.CANCELLED


def test_cancel_of_a_fetched_launch_that_never_appears_ends_after_a_while() -> None:
    fake = make.node()
    job = make.job(make.project())
    make.decide()
    [member] = make.members_of(job)
    services.launch_for(node=fake.node, member_id=member.pk)
    services.job_cancel(actor=job.owner, job_id=job.pk)
    fake.sync()
    assert state(job) == JobState.STOPPING
    AttemptMember.objects.update(fetched_at=clock.now() - SETTLE - timedelta(seconds=1))
    fake.sync()
    assert state(job) == JobState.CANCELLED


def test_an_attempt_beyond_its_max_runtime_is_stopped_by_the_portal_too() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake], max_runtime_s=60)
    assert services.attempts_stop_overdue(clock.now() + timedelta(seconds=100)) == 0
    assert services.attempts_stop_overdue(clock.now() + timedelta(seconds=130)) == 1
    assert services.attempts_stop_overdue(clock.now() + timedelta(seconds=130)) == 0
    [order] = fake.sync().stop
    assert order.reason == "timeout"
    fake.end(order.member_id, "timeout", None)
    fake.sync()
    assert state(job) == JobState.TIMED_OUT
