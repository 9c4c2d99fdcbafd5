"""Stopping: the whole tree, the grace time, checkpoints, an agent that restarts meanwhile, leaving."""

import re
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.messages import ExitRecord, StopOrder
from agent.tests.agent_process import AgentProcess, eventually, launch
from agent.tests.portal_server import PortalServer

SAVES_ON_TERM = """
import signal, sys, time
def save(number, frame):
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""


def exit_of(portal: PortalServer, member_id: int, timeout_s: float = 15.0) -> ExitRecord:
    report = portal.wait_state(member_id, "ended", timeout_s)
    assert report.exit is not None
    return report.exit


def wait_output(portal: PortalServer, member_id: int, text: bytes) -> bytes:
    portal.wait_for(lambda: text in portal.logs.get(member_id, b""), f"{text!r} in the output")
    return portal.logs[member_id]


def test_stop_reaches_a_child_behind_a_wrapper_and_waits_for_it(portal: PortalServer, agent: AgentProcess) -> None:
    # The wrapper neither passes the signal on nor waits for its child: it dies at once.
    portal.want(launch(1, f"python3 -c '{SAVES_ON_TERM}' & wait"))
    agent.start()
    wait_output(portal, 1, b"ready")
    portal.order_stop(1)
    record = exit_of(portal, 1)
    assert (record.cause, record.exit_code, record.signal) == ("stopped", None, signal.SIGTERM)
    assert wait_output(portal, 1, b"saved") == b"ready\nsaved\n"
    assert portal.states[1][-2:] == ["stopping", "ended"]


def test_stop_reaches_a_process_that_left_the_session(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(2, f"setsid python3 -c '{SAVES_ON_TERM}' & sleep 60"))
    agent.start()
    wait_output(portal, 2, b"ready")
    portal.order_stop(2)
    assert exit_of(portal, 2).cause == "stopped"
    assert b"saved" in wait_output(portal, 2, b"saved")


def test_who_ignores_the_signal_is_killed_when_the_grace_is_over(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(3, "trap '' TERM; echo ready; sleep 60 & wait; sleep 60"))
    agent.start()
    wait_output(portal, 3, b"ready")
    ordered = time.monotonic()
    portal.order_stop(3, grace_s=2)
    record = exit_of(portal, 3)
    # The order reaches the agent with a sync, at most one interval of a second later.
    assert 2.0 <= time.monotonic() - ordered < 6.0
    assert (record.cause, record.exit_code, record.signal) == ("stopped", None, signal.SIGKILL)


@pytest.mark.slow
def test_a_repeated_order_changes_nothing_and_a_wrong_fencing_number_is_ignored(
    portal: PortalServer, agent: AgentProcess
) -> None:
    counter = "n=0; trap 'n=$((n+1)); echo signal $n' TERM; echo ready; while :; do sleep 0.1; done"
    portal.want(launch(4, counter))
    agent.start()
    wait_output(portal, 4, b"ready")
    with portal.lock:
        portal.stop_orders[4] = StopOrder(4, 2, "user", 1)
    seen = len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) > seen + 2, "syncs")
    assert b"signal" not in portal.logs[4]
    portal.order_stop(4, grace_s=4)
    exit_of(portal, 4)
    # The loop's own sleeps are part of the tree and get the signal, too; the shell counts only its own.
    assert re.findall(rb"signal \d", portal.logs[4]) == [b"signal 1"]


def test_timeout_is_reported_as_such(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(5, "exec sleep 60"))
    agent.start()
    portal.wait_state(5, "running")
    portal.order_stop(5, reason="timeout")
    assert exit_of(portal, 5).cause == "timeout"


def test_left_behind_processes_end_with_the_job(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(6, "setsid sleep 61 & setsid sh -c 'trap \"\" TERM; sleep 62' & echo $!; exit 0"))
    agent.start()
    record = exit_of(portal, 6)
    assert (record.cause, record.exit_code) == ("finished", 0)
    pid = int(wait_output(portal, 6, b"\n"))
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    """A process that is dead and waits for its parent to ask how it died does not run."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


def test_the_newest_checkpoint_is_reported(portal: PortalServer, agent: AgentProcess) -> None:
    script = "mkdir -p ckpt/1; echo 1 > ckpt/1/a.pt; touch -d @1700000000 ckpt/1/a.pt; sleep 0.1; echo ready; sleep 1;"
    script += "echo 2 > ckpt/.b.tmp; touch -d @1700000200 ckpt/.b.tmp;"
    script += "echo 2 > ckpt/2.pt; touch -d @1700000100 ckpt/2.pt; exec sleep 60"
    portal.want(launch(7, script, checkpoint_dir="ckpt"))
    agent.start()

    def newest() -> datetime | None:
        report = portal.report(7)
        return report.newest_checkpoint_at if report is not None else None

    portal.wait_for(lambda: newest() == datetime.fromtimestamp(1_700_000_000, UTC), "first checkpoint")
    portal.wait_for(lambda: newest() == datetime.fromtimestamp(1_700_000_100, UTC), "second checkpoint")


@pytest.mark.slow
def test_the_grace_extends_while_a_checkpoint_is_written_at_most_twofold(
    portal: PortalServer, agent: AgentProcess
) -> None:
    writing = (
        "trap 'while :; do echo x >> ckpt/part.tmp; sleep 0.1; done' TERM; mkdir ckpt; echo ready; sleep 60 & wait"
    )
    quiet = "trap '' TERM; mkdir ckpt; touch -d @1700000000 ckpt/old; echo ready; sleep 60 & wait"
    portal.want(launch(8, writing, checkpoint_dir="ckpt"))
    portal.want(launch(9, quiet, checkpoint_dir="ckpt"))
    agent.start()
    wait_output(portal, 8, b"ready")
    wait_output(portal, 9, b"ready")
    portal.order_stop(8, grace_s=2)
    portal.order_stop(9, grace_s=2)
    portal.wait_state(8, "stopping")
    stopping_at = time.monotonic()
    exit_of(portal, 9)
    assert time.monotonic() - stopping_at < 3.5
    exit_of(portal, 8)
    assert 3.0 < time.monotonic() - stopping_at < 6.0


SAVES_TWICE = """
import os, signal, sys, time
def write(name):
    with open("ckpt/part.tmp", "w") as file:
        file.write(name)
    os.replace("ckpt/part.tmp", "ckpt/" + name)
def save(number, frame):
    write("after.pt")
    sys.exit(0)
os.mkdir("ckpt")
write("before.pt")
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_checkpoint_answers_the_signal_only_if_it_is_newer(portal: PortalServer, agent: AgentProcess) -> None:
    """One job saves when it is told to give way, the other had saved only before: the instants tell them apart."""
    portal.want(launch(15, f"exec python3 -c '{SAVES_TWICE}'", checkpoint_dir="ckpt"))
    portal.want(launch(16, "mkdir ckpt; echo 1 > ckpt/before.pt; echo ready; exec sleep 60", checkpoint_dir="ckpt"))
    agent.start()
    for member_id in (15, 16):
        wait_output(portal, member_id, b"ready")
        report = portal.report(member_id)
        assert report is not None
        assert report.signalled_at is None
        portal.order_stop(member_id, reason="preempted")
    reports = {}
    for member_id in (15, 16):
        assert exit_of(portal, member_id).cause == "stopped"
        reports[member_id] = portal.wait_state(member_id, "ended", 15.0)
    saved, unsaved = reports[15], reports[16]
    assert saved.signalled_at is not None
    assert saved.newest_checkpoint_at is not None
    assert saved.newest_checkpoint_at > saved.signalled_at
    assert unsaved.signalled_at is not None
    assert unsaved.newest_checkpoint_at is not None
    assert unsaved.newest_checkpoint_at < unsaved.signalled_at


@pytest.mark.fault
def test_a_stop_goes_on_and_keeps_its_end_while_no_agent_lives(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(10, "trap 'echo term' TERM; echo ready; while :; do sleep 0.1; done", grace_s=3))
    agent.start()
    wait_output(portal, 10, b"ready")
    portal.order_stop(10, grace_s=3)
    wait_output(portal, 10, b"term")
    agent.kill()
    eventually(lambda: (agent.member(10) / "exit.json").exists(), "exit record")
    agent.start()
    record = exit_of(portal, 10)
    assert (record.cause, record.signal) == ("stopped", signal.SIGKILL)


@pytest.mark.fault
def test_an_order_that_never_reached_the_shim_is_carried_out_after_the_restart(
    portal: PortalServer, agent: AgentProcess
) -> None:
    portal.want(launch(11, "exec sleep 60"))
    agent.start()
    portal.wait_state(11, "running")
    agent.kill()
    # As if the agent had died between writing the order and telling the shim.
    order = f'{{"cause":"stopped","signal":"SIGTERM","grace_s":5,"ordered_monotonic":{time.monotonic()}}}'
    (agent.member(11) / "stop.json").write_text(order)
    agent.start()
    record = exit_of(portal, 11)
    assert (record.cause, record.signal) == ("stopped", signal.SIGTERM)


@pytest.mark.fault
def test_leaving_with_the_flag_stops_jobs_and_reports_everything(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(12, f"exec python3 -c '{SAVES_ON_TERM}'"))
    agent.start("--stop-jobs-on-exit")
    wait_output(portal, 12, b"ready")
    assert agent.end() == 0
    report = portal.report(12)
    assert report is not None
    assert report.exit is not None
    assert (report.exit.cause, report.exit.exit_code) == ("node_shutdown", 0)
    assert portal.syncs[-1].is_leaving
    assert portal.logs[12] == b"ready\nsaved\n"


@pytest.mark.fault
def test_leaving_without_the_flag_lets_jobs_go_on_and_the_next_agent_takes_them_over(
    portal: PortalServer, agent: AgentProcess
) -> None:
    go = agent.home.parent / "go"
    portal.want(launch(13, f"echo ready; while [ ! -e {go} ]; do sleep 0.05; done; echo bye; exit 4"))
    agent.start()
    wait_output(portal, 13, b"ready")
    assert agent.end() == 0
    assert not any(sync.is_leaving for sync in portal.syncs)
    go.touch()
    eventually(lambda: (agent.member(13) / "exit.json").exists(), "exit record without an agent")
    agent.start()
    assert exit_of(portal, 13).exit_code == 4
    wait_output(portal, 13, b"bye")
    assert portal.logs[13] == b"ready\nbye\n"
    assert len({sync.boot_id for sync in portal.syncs}) == 2


@pytest.mark.fault
def test_ctrl_c_on_the_agents_terminal_does_not_reach_the_jobs(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(14, "exec sleep 60"))
    agent.start()
    portal.wait_state(14, "running")
    assert agent.interrupt_group() == 0
    agent.start()
    boots = {sync.boot_id for sync in portal.syncs}
    portal.wait_for(lambda: portal.syncs[-1].boot_id not in boots, "a sync of the second agent")
    report = portal.report(14)
    assert report is not None
    assert report.state == "running"
