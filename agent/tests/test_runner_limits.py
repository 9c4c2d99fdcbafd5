"""Limits that need a special place: a full disk, a closed home, a node without control groups."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json

from agent.home import JOBS_BESIDE, Home
from agent.messages import ExitRecord
from agent.runner.members import Members
from agent.runner.plan import Node
from agent.tests.agent_process import AgentProcess, eventually, launch
from agent.tests.portal_server import PortalServer

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount or to change users")
MEBIBYTE = 1 << 20


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    """A file system of two mebibytes."""
    folder = open_folder / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=755", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@only_root
def test_a_job_that_fills_the_disk_still_gets_its_exit_record(
    portal: PortalServer, agent: AgentProcess, small_disk: Path
) -> None:
    agent.home = small_disk / "home"
    portal.want(launch(1, "yes x | head -c 20000000; head -c 9999999 /dev/zero > big; exit 5"))
    agent.start()
    report = portal.wait_state(1, "ended")
    assert report.exit is not None
    assert (report.exit.cause, report.exit.exit_code) == ("finished", 5)
    assert report.log_bytes < 2 * MEBIBYTE
    record = json.decode((agent.member(1) / "exit.json").read_bytes(), type=ExitRecord)
    assert record == report.exit


@only_root
def test_a_start_on_a_full_disk_is_a_launch_failure_that_says_so(
    portal: PortalServer, agent: AgentProcess, small_disk: Path
) -> None:
    agent.home = small_disk / "home"
    agent.start()
    portal.wait_for(lambda: portal.syncs, "a sync")
    with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 65536)
    portal.want(launch(2, "true"))
    report = portal.wait_state(2, "ended")
    assert report.exit is not None
    assert (report.exit.cause, report.exit.message) == (
        "launch_failed",
        "cannot start the job on this node: No space left on device",
    )


@only_root
def test_under_a_closed_home_jobs_get_a_folder_that_their_user_can_reach(
    portal: PortalServer, agent: AgentProcess
) -> None:
    closed = agent.home.parent / "closed"
    closed.mkdir(mode=0o700)
    agent.home = closed / "home"
    portal.want(launch(3, "pwd; cd $HOME && echo ok > result; cat result"))
    agent.start()
    report = portal.wait_state(3, "ended")
    assert report.exit is not None
    assert report.exit.exit_code == 0
    beside = JOBS_BESIDE / Home(agent.home).tag
    portal.wait_for(lambda: portal.logs.get(3) == f"{beside / '3'}\nok\n".encode(), "output")
    with portal.lock:
        del portal.launches[3]
        portal.forget = {3}
    eventually(lambda: not any(beside.iterdir()), "both folders deleted")
    assert not agent.member(3).exists()
    agent.end()
    assert not beside.exists()


def test_without_a_control_group_the_watchdog_names_limit_and_use(open_folder: Path) -> None:
    home = Home(open_folder / "home")
    home.open()
    # A group cannot be made under a name with a slash in it: as on a node that does not let us.
    members = Members(home, Node(1, "no/such", MEBIBYTE, ()), lambda: None)
    script = "import time; x = bytearray(200 << 20); time.sleep(60)"
    members.start(launch(4, ["python3", "-c", script], memory_bytes=100 * MEBIBYTE), ())

    def ended() -> ExitRecord | None:
        members.look()
        return members.reports()[0].exit

    record = eventually(ended, "the end")
    assert (record.cause, record.exit_code) == ("finished", None)
    assert record.message.startswith("memory limit exceeded: ")
    assert record.message.endswith(f" bytes used, limit {100 * MEBIBYTE} bytes")
    home.close()


def test_files_are_many_and_cores_are_not_dumped(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(5, "ulimit -c; ulimit -n; ulimit -Hn; nproc", cpus=1))
    agent.start()
    portal.wait_state(5, "ended")
    text = portal.wait_for(lambda: portal.logs.get(5), "output").decode().split()
    assert text[0] == "0"
    assert text[1] == text[2]
    assert int(text[1]) >= 4096
    assert text[3] == "1"


@only_root
def test_a_job_cannot_take_all_processes_of_the_node(portal: PortalServer, agent: AgentProcess) -> None:
    portal.want(launch(7, "cat /proc/self/limits"))
    agent.start()
    portal.wait_state(7, "ended")
    lines = portal.wait_for(lambda: portal.logs.get(7), "output").decode().splitlines()
    soft, hard = next(line for line in lines if line.startswith("Max processes")).split()[2:4]
    assert soft == hard
    assert int(hard) <= int(Path("/proc/sys/kernel/pid_max").read_text()) // 4
