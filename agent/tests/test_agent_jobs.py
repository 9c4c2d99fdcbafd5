"""The agent as a real process: jobs start, run, report, stop and are forgotten."""

import json
import os

import psutil
import pytest

from agent.messages import DeviceShare, MemberReport
from agent.tests.agent_process import AgentProcess, eventually, launch
from agent.tests.portal_server import NODE_ID, PortalServer


def ended(portal: PortalServer, member_id: int) -> MemberReport:
    report = portal.wait_state(member_id, "ended")
    assert report.exit is not None
    return report


def test_a_job_runs_and_its_end_and_whole_output_arrive(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(1, "echo begin; sleep 0.3; echo end >&2; exit 3"))
    agent.start()
    report = ended(portal, 1)
    assert report.exit is not None
    assert (report.exit.cause, report.exit.exit_code, report.exit.signal) == ("finished", 3, None)
    assert report.started_at is not None
    assert report.exit.started_at is not None
    assert report.exit.ended_at > report.exit.started_at
    portal.wait_for(lambda: portal.logs.get(1) == b"begin\nend\n", "output")
    assert report.log_bytes == len(b"begin\nend\n")
    assert portal.states[1][-2:] == ["running", "ended"] or portal.states[1] == ["ended"]


def test_a_job_sees_a_clean_environment_and_its_identity(portal: PortalServer, agent: AgentProcess) -> None:
    agent.environment = {"SECRET_OF_THE_AGENT": "x"}
    shares = (DeviceShare(agent.device(0), 1000), DeviceShare(agent.device(1), 500))
    wanted = launch(2, "env; pwd; ulimit -c", env={"EPOCHS": "3", "RANK": "9"}, devices=shares, rank=1, world_size=2)
    portal.want(wanted)
    agent.start()
    ended(portal, 2)
    expected = portal.wait_for(lambda: b"\n0\n" in portal.logs.get(2, b"") and portal.logs[2], "output").decode()
    lines = expected.splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    assert "SECRET_OF_THE_AGENT" not in seen
    assert seen["EPOCHS"] == "3"
    assert (seen["RANK"], seen["WORLD_SIZE"]) == ("1", "2")
    assert seen["CUDA_VISIBLE_DEVICES"] == ""
    assert seen["SLUICE_SIMULATED_DEVICES"] == f"{agent.device(0)},{agent.device(1)}"
    assert seen["SLUICE_DEVICES"] == f"{agent.device(0)}=1000,{agent.device(1)}=500"
    assert (seen["SLUICE_JOB_ID"], seen["SLUICE_MEMBER_ID"], seen["SLUICE_NODE_ID"]) == ("102", "2", str(NODE_ID))
    assert seen["HOME"] == lines[-2]
    assert seen["HOME"].endswith("/members/2/work")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a job another user")
def test_as_root_each_job_has_its_own_user_and_sees_no_other_files(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(3, "id -u; id -G; echo x > own; cat ../launch.json; cat ../../../node.json; ls .."))
    agent.start()
    ended(portal, 3)
    text = portal.wait_for(lambda: portal.logs.get(3), "output").decode()
    assert text.startswith("200003\n200003\n")
    assert text.count("Permission denied") == 3
    owner = (agent.member(3) / "work" / "own").stat()
    assert (owner.st_uid, owner.st_gid) == (200003, 200003)
    assert (agent.home / "node.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program"], "command not found: no-such-program"),
        (["/etc/passwd"], "permission denied: /etc/passwd"),
        ([], "the command is empty"),
        (["a\0b"], "command or environment contains a zero byte"),
    ],
)
def test_a_command_that_cannot_start_ends_as_launch_failed(
    portal: PortalServer, agent: AgentProcess, command: list[str], message: str
) -> None:
    portal.want(launch(4, command))
    agent.start()
    report = ended(portal, 4)
    assert report.exit is not None
    assert (report.exit.cause, report.exit.exit_code, report.exit.signal) == ("launch_failed", None, None)
    assert report.exit.message.startswith(message)
    portal.wait_for(lambda: message.encode() in portal.logs.get(4, b""), "message in the log")
    assert json.loads((agent.member(4) / "exit.json").read_bytes())["cause"] == "launch_failed"


def test_a_device_that_is_not_here_or_not_free_is_refused(portal: PortalServer, agent: AgentProcess) -> None:
    whole = (DeviceShare(agent.device(0), 1000),)
    portal.want(launch(5, "exec sleep 60", devices=whole))
    agent.start()
    portal.wait_state(5, "running")
    portal.want(launch(6, "true", devices=whole))
    portal.want(launch(7, "true", devices=(DeviceShare("GPU-elsewhere", 1000),)))
    first, second = ended(portal, 6), ended(portal, 7)
    assert first.exit is not None
    assert second.exit is not None
    assert first.exit.message == f"device {agent.device(0)} is still held by another job on this node"
    assert second.exit.message == "device GPU-elsewhere is not on this node"
    report = portal.report(5)
    assert report is not None
    assert report.state == "running"


def test_forget_deletes_an_ended_member_and_never_a_living_one(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(8, "mkdir -p a/b; chmod 0 a; true"))
    portal.want(launch(9, "exec sleep 60"))
    agent.start()
    ended(portal, 8)
    portal.wait_state(9, "running")
    with portal.lock:
        del portal.launches[8]
        portal.forget = {8, 9}
    portal.wait_for(lambda: portal.report(8) is None, "member forgotten")
    eventually(lambda: not agent.member(8).exists() and not any((agent.home / "trash").iterdir()), "folder deleted")
    report = portal.report(9)
    assert report is not None
    assert report.state == "running"


def test_a_key_is_never_started_again_even_after_it_was_forgotten(portal: PortalServer, agent: AgentProcess) -> None:
    counter = agent.home.parent / "starts"
    counter.write_text("")
    counter.chmod(0o666)
    portal.want(launch(10, f"echo x >> {counter}"))
    agent.start()
    ended(portal, 10)
    portal.forget = {10}
    # The portal goes on wanting it: the agent fetches it again and again and never starts it.
    portal.wait_for(lambda: portal.fetches.count(10) >= 3, "asked again")
    assert counter.read_text() == "x\n"


def test_output_beyond_the_cap_is_dropped_with_a_line(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(11, "yes 0123456789 | head -c 3000000; echo done"))
    agent.start("--log-cap-bytes", "500000")
    report = ended(portal, 11)
    portal.wait_for(lambda: len(portal.logs.get(11, b"")) == report.log_bytes, "output")
    log = portal.logs[11]
    assert log[:500_000] == (b"0123456789\n" * 50_000)[:500_000]
    assert log[500_000:] == b"\n[sluice] output truncated: the node keeps 500000 bytes of a job's output\n"


def test_a_long_output_arrives_whole_and_in_order(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(12, "seq 1 200000"))
    agent.start()
    ended(portal, 12)
    whole = "".join(f"{number}\n" for number in range(1, 200_001)).encode()
    portal.wait_for(lambda: len(portal.logs.get(12, b"")) >= len(whole), "output")
    assert portal.logs[12] == whole


def test_max_runtime_ends_a_job_as_timeout(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(13, "trap 'echo saving; exit 0' TERM; sleep 60 & wait", max_runtime_s=1))
    agent.start()
    report = ended(portal, 13)
    assert report.exit is not None
    assert (report.exit.cause, report.exit.exit_code) == ("timeout", 0)
    assert report.exit.message == "maximum run time 1 s"
    portal.wait_for(lambda: portal.logs.get(13) == b"saving\n", "output")


def test_memory_over_the_limit_ends_the_job_with_a_message(portal: PortalServer, agent: AgentProcess) -> None:
    limit = 100 << 20
    script = "x = bytearray(300 << 20); import time; time.sleep(60)"
    portal.want(launch(14, ["/usr/bin/env", "python3", "-c", script], memory_bytes=limit))
    agent.start()
    report = ended(portal, 14)
    assert report.exit is not None
    assert report.exit.cause == "finished"
    assert report.exit.signal is not None
    assert report.exit.message.startswith("memory limit exceeded")
    assert str(limit) in report.exit.message


@pytest.mark.slow
def test_ended_jobs_leave_no_descriptor_no_zombie_and_no_busy_loop(portal: PortalServer, agent: AgentProcess) -> None:
    agent.start()
    portal.wait_for(lambda: portal.syncs, "a sync")
    assert agent.process is not None
    process = psutil.Process(agent.process.pid)
    for member_id in range(100, 120):
        portal.want(launch(member_id, "exit 0"))
    for member_id in range(100, 120):
        ended(portal, member_id)
    assert process.num_fds() < 40
    assert [child.pid for child in process.children() if child.status() == psutil.STATUS_ZOMBIE] == []
    used, seen = sum(process.cpu_times()[:2]), len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) >= seen + 4, "four seconds of nothing to do")
    # A loop that never sleeps would use a whole core for these four seconds.
    assert sum(process.cpu_times()[:2]) - used < 1.0
