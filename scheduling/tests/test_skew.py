"""Nodes whose clocks are wrong: max runtime, checkpoints and exits count by the portal's clock."""

from datetime import UTC, datetime, timedelta

import pytest

from agent.messages import ExitRecord, MemberReport, Sync
from inventory.tests import factories as machines
from kernel import clock
from scheduling import services
from scheduling.services.skew import ON_THE_WAY, reports_of
from scheduling.states import JobState
from scheduling.tests import factories as make

NOON = datetime(2030, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def sync_of(sent_at: datetime, report: MemberReport) -> Sync:
    return Sync(1, "boot", 1, sent_at, "1.0", machines.hardware("n1", 1), (report,))


@pytest.mark.parametrize("off", [-HOUR, HOUR, timedelta(seconds=3)])
def test_every_instant_of_a_report_is_told_by_the_portals_clock(off: timedelta) -> None:
    record = ExitRecord("finished", 0, None, NOON - HOUR + off, NOON - MINUTE + off)
    report = MemberReport(7, 1, "ended", NOON - HOUR + off, 5, NOON - 2 * MINUTE + off, record)
    told = reports_of(sync_of(NOON + off, report), NOON)[7]
    assert (told.started_at, told.newest_checkpoint_at) == (NOON - HOUR, NOON - 2 * MINUTE)
    assert told.exit == ExitRecord("finished", 0, None, NOON - HOUR, NOON - MINUTE)
    assert (told.member_id, told.fencing, told.state, told.log_bytes) == (7, 1, "ended", 5)


def test_the_way_of_a_message_is_no_wrong_clock() -> None:
    report = MemberReport(7, 1, "running", NOON - HOUR)
    assert reports_of(sync_of(NOON - ON_THE_WAY, report), NOON) == {7: report}


def test_a_clock_beyond_the_calendar_says_nothing() -> None:
    record = ExitRecord("finished", 0, None, NOON, NOON)
    report = MemberReport(7, 1, "ended", NOON, 0, None, record)
    told = reports_of(sync_of(datetime.max.replace(tzinfo=UTC), report), NOON)[7]
    assert told.started_at is None
    assert told.exit == ExitRecord("finished", 0, None, None, NOON)


@pytest.mark.django_db
def test_a_node_whose_clock_is_late_loses_no_runtime() -> None:
    fake = make.node()
    job = make.job(make.project(), max_runtime_s=600)
    make.decide()
    fake.sync()
    [member] = make.members_of(job)
    with clock.frozen(clock.now() - HOUR):
        fake.run(member.pk)
        message = fake.message()
    fake.send(message)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert services.attempts_stop_overdue(clock.now() + MINUTE) == 0
    assert services.attempts_stop_overdue(clock.now() + timedelta(seconds=720)) == 1


@pytest.mark.django_db
def test_an_old_checkpoint_of_a_node_whose_clock_is_early_is_not_newer_than_the_pause() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake], checkpoint_dir="checkpoints")
    [member] = make.members_of(job)
    saved_at = clock.now() - MINUTE
    services.job_pause(actor=job.owner, job_id=job.pk)
    with clock.frozen(clock.now() + HOUR):
        fake.end(member.pk, "stopped", None)
        fake.held[member.pk] = make.replace_report(fake.held[member.pk], newest_checkpoint_at=saved_at + HOUR)
        message = fake.message()
    fake.send(message)
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.PAUSED, "paused_without_checkpoint")
