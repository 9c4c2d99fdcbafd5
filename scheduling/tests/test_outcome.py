"""From exit records to what becomes of the job."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.messages import ExitCause, ExitRecord
from kernel import clock
from scheduling import services
from scheduling.outcome import GANG, Ending, JobFacts, backoff_s, ending, job_outcome
from scheduling.states import Cause, JobState
from scheduling.tests import factories as make

AT = datetime(2030, 1, 1, tzinfo=UTC)
FACTS = JobFacts(JobState.RUNNING, "", 2, 0, 0, has_checkpoint_dir=False, has_newer_checkpoint=False)

STOPPING = {"state": JobState.STOPPING}


def record(cause: ExitCause, code: int | None = None, signal: int | None = None, after_s: int = 0) -> ExitRecord:
    return ExitRecord(cause, code, signal, AT, AT + timedelta(seconds=after_s), f"{cause}!")


@pytest.mark.parametrize(
    ("exits", "stop_reason", "expected"),
    [
        ([record("finished", 0)], "", (Cause.FINISHED, 0)),
        ([record("finished", 2)], "", (Cause.FINISHED, 2)),
        ([record("finished", None, 9)], "", (Cause.FINISHED, 137)),
        ([record("stopped", None, 15)], "user", (Cause.USER, 143)),
        ([record("stopped")], "project", (Cause.USER, None)),
        ([record("stopped")], "preempted", (Cause.PREEMPTED, None)),
        ([record("stopped")], "timeout", (Cause.TIMEOUT, None)),
        ([record("lost")], "timeout", (Cause.TIMEOUT, None)),
        ([record("node_shutdown")], "timeout", (Cause.TIMEOUT, None)),
        ([record("lost")], "preempted", (Cause.NODE_LOST, None)),
        ([record("timeout", None, 15)], "", (Cause.TIMEOUT, 143)),
        ([record("launch_failed")], "", (Cause.LAUNCH_FAILED, None)),
        ([record("node_shutdown")], "", (Cause.NODE_LOST, None)),
        ([record("lost")], "", (Cause.NODE_LOST, None)),
        ([record("stopped")], "", (Cause.NODE_LOST, None)),
        ([record("finished", 0)], "user", (Cause.FINISHED, 0)),
        ([record("finished", 0), record("finished", 4, after_s=1)], GANG, (Cause.FINISHED, 4)),
        ([record("stopped", after_s=1), record("finished", 4, after_s=2)], GANG, (Cause.FINISHED, 4)),
        ([record("finished", 5, after_s=2), record("lost", after_s=1)], GANG, (Cause.NODE_LOST, None)),
        ([record("stopped"), record("finished", 0)], GANG, (Cause.NODE_LOST, None)),
    ],
)
def test_one_cause_for_the_attempt(exits: list[ExitRecord], stop_reason: str, expected: tuple[Cause, int]) -> None:
    end = ending(exits, stop_reason, has_lost_device=False)
    assert (end.cause, end.exit_code) == expected


@pytest.mark.parametrize(("cause", "code"), [("finished", 1), ("lost", None)])
def test_a_lost_device_makes_it_the_hardware(cause: ExitCause, code: int | None) -> None:
    assert ending([record(cause, code)], "", has_lost_device=True).cause == Cause.HARDWARE
    assert ending([record("finished", 0)], "", has_lost_device=True).cause == Cause.FINISHED
    assert ending([record("stopped")], "user", has_lost_device=True).cause == Cause.USER
    assert ending([record("finished", 1)], "timeout", has_lost_device=True).cause == Cause.TIMEOUT


@pytest.mark.django_db
def test_a_job_beyond_its_time_on_a_node_that_is_then_lost_does_not_run_again() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake], max_runtime_s=1)
    assert services.attempts_stop_overdue(clock.now() + timedelta(hours=1)) == 1
    make.fall_silent(fake)
    services.members_lose_sight()
    services.node_declare_lost(actor=make.admin(), node_id=fake.node.pk, reason="it burnt")
    job.refresh_from_db()
    assert (job.state, job.reason_code) == (JobState.TIMED_OUT, "max_runtime")


@pytest.mark.parametrize(
    ("end", "facts", "event", "code"),
    [
        (Ending(Cause.FINISHED, 0), {}, "succeed", "succeeded"),
        (Ending(Cause.FINISHED, 0), {"state": JobState.PAUSING}, "succeed", "succeeded"),
        (Ending(Cause.FINISHED, 1), {"failures": 1}, "retry", "backoff"),
        (Ending(Cause.FINISHED, 1), {"failures": 3}, "fail", "exit_code"),
        (Ending(Cause.FINISHED, 1), {"failures": 1, "max_retries": 0}, "fail", "exit_code"),
        (Ending(Cause.TIMEOUT, None), {}, "time_out", "max_runtime"),
        (Ending(Cause.USER, None), STOPPING, "cancelled", "user"),
        (
            Ending(Cause.USER, None),
            {"state": JobState.STOPPING, "stop_reason": "project"},
            "cancelled",
            "project_state",
        ),
        (Ending(Cause.NODE_LOST, None), STOPPING, "cancelled", "user"),
        (Ending(Cause.USER, None), {"state": JobState.PAUSING}, "paused", "paused_without_checkpoint"),
        (Ending(Cause.LAUNCH_FAILED, None), {"launch_failures": 2}, "retry", "backoff"),
        (Ending(Cause.LAUNCH_FAILED, None), {"launch_failures": 3}, "fail", "not_launchable"),
        (Ending(Cause.NODE_LOST, None), {"failures": 9}, "retry", "node_lost"),
        (Ending(Cause.HARDWARE, 1), {"failures": 9}, "retry", "hardware"),
        (Ending(Cause.PREEMPTED, None), {"failures": 9}, "retry", "preempted"),
    ],
)
def test_what_becomes_of_the_job(end: Ending, facts: dict[str, object], event: str, code: str) -> None:
    outcome = job_outcome(end, replace(FACTS, **facts))  # type: ignore[arg-type]
    assert (outcome.event, outcome.code) == (event, code)
    assert outcome.text.endswith((".", "reason", "!"))


def test_paused_is_said_with_the_checkpoint_that_was_seen() -> None:
    pausing = replace(FACTS, state=JobState.PAUSING, has_checkpoint_dir=True)
    with_one = job_outcome(Ending(Cause.USER, None), replace(pausing, has_newer_checkpoint=True))
    assert (with_one.event, with_one.code) == ("paused", "paused")
    without = job_outcome(Ending(Cause.USER, None), pausing)
    assert (without.event, without.code) == ("paused", "paused_without_checkpoint")
    assert "no checkpoint newer than the request was seen" in without.text


def test_back_off_doubles_up_to_ten_minutes() -> None:
    assert [backoff_s(n) for n in (0, 1, 2, 3, 7, 100)] == [10, 10, 20, 40, 600, 600]
    assert job_outcome(Ending(Cause.FINISHED, 1), replace(FACTS, failures=2)).delay_s == 20
    assert job_outcome(Ending(Cause.NODE_LOST, None), FACTS).delay_s == 0
