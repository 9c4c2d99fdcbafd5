"""What a crash at any moment leaves, and what becomes of it."""

import json
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from agent.messages import ExitRecord
from agent.runner import proctree
from agent.tests.agent_process import AgentProcess, eventually, launch
from agent.tests.portal_server import PortalServer

pytestmark = pytest.mark.fault


def exit_of(portal: PortalServer, member_id: int) -> ExitRecord:
    report = portal.wait_state(member_id, "ended")
    assert report.exit is not None
    return report.exit


def _holds(portal: PortalServer, text: bytes) -> bool:
    return text in portal.logs.get(1, b"")


def started(agent: AgentProcess, member_id: int) -> dict[str, int]:
    path = agent.member(member_id) / "started.json"
    eventually(path.exists, "start record")
    record: dict[str, int] = json.loads(path.read_bytes())
    return record


def test_an_agent_that_is_killed_leaves_jobs_running_and_nothing_of_the_log_is_lost_or_doubled(
    portal: PortalServer, agent: AgentProcess
) -> None:
    portal.want(launch(1, "for i in $(seq 1 60); do echo line $i; sleep 0.05; done"))
    for lines in (1, 10, 20):
        agent.start()
        portal.wait_for(partial(_holds, portal, f"line {lines}\n".encode()), "more output")
        agent.kill()
    agent.start()
    assert exit_of(portal, 1).exit_code == 0
    whole = "".join(f"line {number}\n" for number in range(1, 61)).encode()
    portal.wait_for(lambda: len(portal.logs[1]) >= len(whole), "whole output")
    assert portal.logs[1] == whole


def test_a_killed_shim_takes_its_whole_tree_with_it_and_the_member_is_lost(
    portal: PortalServer, agent: AgentProcess
) -> None:
    script = "setsid sh -c 'trap \"\" TERM; sleep 61; sleep 62' & sleep 63 & wait"
    portal.want(launch(2, script))
    agent.start()
    portal.wait_state(2, "running")
    record = started(agent, 2)
    eventually(lambda: len(proctree.descendants(record["shim_pid"])) >= 4, "the job's processes")
    tree = proctree.descendants(record["shim_pid"])
    os.kill(record["shim_pid"], signal.SIGKILL)
    ended = exit_of(portal, 2)
    assert (ended.cause, ended.exit_code, ended.signal) == ("lost", None, None)
    assert [p.pid for p in tree if proctree.is_alive(p.pid, p.start_ticks)] == []


def test_agent_and_shim_killed_together_the_next_agent_clears_up(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(3, "sleep 61 & sleep 62"))
    agent.start()
    portal.wait_state(3, "running")
    record = started(agent, 3)
    tree = proctree.descendants(record["shim_pid"])
    agent.kill()
    os.kill(record["shim_pid"], signal.SIGKILL)
    agent.start()
    assert exit_of(portal, 3).cause == "lost"
    assert [p.pid for p in tree if proctree.is_alive(p.pid, p.start_ticks)] == []


def test_a_foreign_process_under_a_reused_pid_is_left_alone(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(4, "exec sleep 61"))
    agent.start()
    portal.wait_state(4, "running")
    record = started(agent, 4)
    agent.kill()
    os.kill(record["shim_pid"], signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{record['shim_pid']}").exists(), "the shim gone")
    # The record now names this very test process, with a start time that is not its own.
    path = agent.member(4) / "started.json"
    path.write_text(json.dumps({**record, "pid": os.getpid(), "start_ticks": 1}))
    agent.start()
    assert exit_of(portal, 4).cause == "lost"


def test_another_boot_of_the_machine_makes_a_running_member_lost_without_killing(
    portal: PortalServer, agent: AgentProcess
) -> None:
    portal.want(launch(5, "exec sleep 61"))
    agent.start()
    portal.wait_state(5, "running")
    record = started(agent, 5)
    agent.kill()
    os.kill(record["shim_pid"], signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{record['shim_pid']}").exists(), "the shim gone")
    own = proctree.read_process(os.getpid())
    assert own is not None
    other = {**record, "machine_boot_id": "another", "pid": own.pid, "start_ticks": own.start_ticks}
    (agent.member(5) / "started.json").write_text(json.dumps(other))
    agent.start()
    assert exit_of(portal, 5).message == "the node restarted"


@pytest.mark.slow
def test_a_crash_before_the_start_record_starts_the_job_once(portal: PortalServer, agent: AgentProcess) -> None:
    counter = agent.home.parent / "starts"
    counter.write_text("")
    counter.chmod(0o666)
    portal.want(launch(6, f"echo x >> {counter}; exec sleep 60"))
    agent.start()
    portal.wait_state(6, "running")
    agent.kill()
    record = started(agent, 6)
    os.kill(record["shim_pid"], signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{record['shim_pid']}").exists(), "the shim gone")
    # As if agent and shim had died just before the start record: the folder and the key are there, no more.
    (agent.member(6) / "started.json").unlink()
    counter.write_text("")
    agent.start()
    eventually(counter.read_text, "the start")
    seen = len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) >= seen + 3, "some more syncs")
    assert counter.read_text() == "x\n"


def test_a_member_that_never_started_and_is_no_longer_wanted_is_dropped(
    portal: PortalServer, agent: AgentProcess
) -> None:
    portal.want(launch(7, "exec sleep 60"))
    agent.start()
    portal.wait_state(7, "running")
    agent.kill()
    record = started(agent, 7)
    os.kill(record["shim_pid"], signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{record['shim_pid']}").exists(), "the shim gone")
    (agent.member(7) / "started.json").unlink()
    with portal.lock:
        del portal.launches[7]
    agent.start()
    boot = portal.syncs[-1].boot_id
    portal.wait_for(lambda: portal.syncs[-1].boot_id != boot and portal.report(7) is None, "dropped")
    assert not agent.member(7).exists()


@pytest.mark.parametrize("delay_s", [0.0, 0.004, 0.01, 0.02, 0.04, 0.08])
def test_wherever_the_agent_is_killed_a_key_runs_at_most_once(
    portal: PortalServer, agent: AgentProcess, delay_s: float
) -> None:
    counter = agent.home.parent / "starts"
    counter.write_text("")
    counter.chmod(0o666)
    portal.want(launch(8, f"echo x >> {counter}"))
    agent.start()
    portal.wait_for(lambda: portal.fetches, "the fetch")
    time.sleep(delay_s)  # the crash's moment, not a wait for an event
    agent.kill()
    agent.start()
    assert exit_of(portal, 8).exit_code == 0
    assert counter.read_text() == "x\n"


def test_jobs_go_on_while_the_portal_is_away_and_all_is_told_when_it_is_back(
    portal: PortalServer, agent: AgentProcess
) -> None:
    go = agent.home.parent / "go"
    portal.want(launch(9, f"echo one; while [ ! -e {go} ]; do sleep 0.05; done; echo two"))
    agent.start()
    portal.wait_for(lambda: portal.logs.get(9) == b"one\n", "output")
    portal.stop()
    go.touch()
    eventually(lambda: (agent.member(9) / "exit.json").exists(), "exit record")
    portal.start()
    assert exit_of(portal, 9).exit_code == 0
    portal.wait_for(lambda: portal.logs[9] == b"one\ntwo\n", "rest of the output")


def test_a_refused_token_is_logged_and_jobs_go_on(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(10, "exec sleep 60"))
    agent.start()
    portal.wait_state(10, "running")
    portal.status = 401
    eventually(lambda: b"does not accept this node's token" in agent.log.read_bytes(), "log line")
    record = started(agent, 10)
    assert Path(f"/proc/{record['pid']}").exists()
    seen = len(portal.syncs)
    portal.status = None
    portal.wait_for(lambda: len(portal.syncs) > seen, "syncs again")
    report = portal.report(10)
    assert report is not None
    assert report.state == "running"


@pytest.mark.slow
def test_sequence_rises_within_a_boot_and_a_boot_has_a_name_of_its_own(
    portal: PortalServer, agent: AgentProcess
) -> None:
    agent.start()
    portal.wait_for(lambda: len(portal.syncs) >= 3, "syncs")
    agent.kill()
    seen = len(portal.syncs)
    agent.start()
    portal.wait_for(lambda: len(portal.syncs) >= seen + 2, "syncs of the second agent")
    by_boot: dict[str, list[int]] = {}
    for sync in portal.syncs:
        by_boot.setdefault(sync.boot_id, []).append(sync.sequence)
    assert len(by_boot) == 2
    assert all(numbers == sorted(set(numbers)) for numbers in by_boot.values())
    assert len(portal.enrolments) == 1
