"""The fleet against the tests' portal: one process, real HTTP, members that are no processes and say so."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import json

from agent import messages
from agent.collector.simulated import device_uuid
from agent.errors import BadSettings
from agent.fleet.member import SimulatedMember
from agent.fleet.spec import FleetSpec, NodeSpec, read_spec
from agent.tests.portal_server import ENROLMENT_TOKEN, PortalServer

NAME = "h800-001"
BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def launch(member_id: int, *, runtime_s: int = 600, code: int = 0, limit_s: int | None = None) -> messages.Launch:
    return messages.Launch(
        member_id=member_id,
        launch_key=f"key-{member_id}",
        fencing=3,
        job_id=100 + member_id,
        job_name=f"train {member_id}",
        command=("sh", "-c", "exit 7"),
        env={"SIMULATED_RUNTIME_S": str(runtime_s), "SIMULATED_EXIT_CODE": str(code)},
        devices=(messages.DeviceShare(device_uuid(f"fleet/{NAME}", 0), 1000),),
        cpus=0,
        memory_bytes=0,
        max_runtime_s=limit_s,
        grace_s=30,
        signal="SIGTERM",
        checkpoint_dir="checkpoints",
        rank=0,
        world_size=1,
    )


class Fleet:
    """One fleet process that a test starts, kills and starts again."""

    def __init__(self, portal: PortalServer, folder: Path, token: str = ENROLMENT_TOKEN) -> None:
        self.portal, self.folder = portal, folder
        self.process: subprocess.Popen[bytes] | None = None
        node = NodeSpec(NAME, "NVIDIA H800 80GB", 2, 64, 1 << 40, token=token)
        (folder / "spec.json").write_bytes(json.encode(FleetSpec((node,))))

    def start(self) -> None:
        options = ["--home", str(self.folder), "--portal", self.portal.url, "--spec", str(self.folder / "spec.json")]
        self.process = subprocess.Popen([sys.executable, "-m", "agent.fleet", *options], env=dict(os.environ))

    def end(self, number: int) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=15)


@pytest.fixture
def fleet(portal: PortalServer, tmp_path: Path) -> Iterator[Fleet]:
    fleet = Fleet(portal, tmp_path)
    yield fleet
    if fleet.process is not None and fleet.process.poll() is None:
        fleet.end(signal.SIGKILL)


def test_a_member_is_played_to_its_end_logged_and_forgotten(fleet: Fleet, portal: PortalServer) -> None:
    portal.want(launch(1, runtime_s=2, code=5))
    fleet.start()
    ended = portal.wait_state(1, "ended")
    assert portal.states[1] == ["running", "ended"]
    assert ended.exit is not None
    assert (ended.exit.cause, ended.exit.exit_code, ended.exit.signal) == ("finished", 5, None)
    portal.wait_for(lambda: len(portal.logs.get(1, b"")) == ended.log_bytes, "whole log")
    assert portal.logs[1].startswith(b"simulated: no process runs")
    with portal.lock:
        portal.launches.clear()
        portal.forget.add(1)
    portal.wait_for(lambda: not portal.syncs[-1].members, "forgotten")
    assert portal.enrolments[0].hardware.is_simulated
    assert all(device.is_simulated for device in portal.enrolments[0].hardware.devices)


def test_a_stop_is_obeyed_within_its_grace_and_only_for_its_own_attempt(fleet: Fleet, portal: PortalServer) -> None:
    portal.want(launch(2))
    fleet.start()
    portal.wait_state(2, "running")
    with portal.lock:
        portal.stop_orders[2] = messages.StopOrder(2, 2, "superseded", 1)
        seen = len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) >= seen + 2, "two more syncs")
    assert portal.states[2] == ["running"]
    portal.order_stop(2, grace_s=1)
    ended = portal.wait_state(2, "ended")
    assert portal.states[2][-2:] in (["stopping", "ended"], ["running", "ended"])
    assert ended.exit is not None
    assert (ended.exit.cause, ended.exit.signal, ended.exit.exit_code) == ("stopped", 15, None)
    assert ended.newest_checkpoint_at is not None


def test_killed_and_started_again_it_goes_on_with_the_same_member(fleet: Fleet, portal: PortalServer) -> None:
    portal.want(launch(3))
    fleet.start()
    began = portal.wait_state(3, "running").started_at
    fleet.end(signal.SIGKILL)
    with portal.lock:
        boot, seen = portal.syncs[-1].boot_id, len(portal.syncs)
    fleet.start()
    portal.wait_for(lambda: len(portal.syncs) > seen and portal.syncs[-1].boot_id != boot, "new boot")
    report = portal.report(3)
    assert report is not None
    assert report.started_at == began
    assert portal.fetches == [3]
    assert len(portal.enrolments) == 1


def test_a_launch_key_is_started_once_even_after_it_was_forgotten(fleet: Fleet, portal: PortalServer) -> None:
    portal.want(launch(4, runtime_s=1))
    fleet.start()
    portal.wait_state(4, "ended")
    with portal.lock:
        portal.forget.add(4)
    portal.wait_for(lambda: portal.fetches.count(4) >= 2, "fetched again")
    with portal.lock:
        seen = len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) >= seen + 2, "two more syncs")
    assert portal.states[4] == ["running", "ended"]


def test_it_waits_for_a_portal_that_is_away_and_says_when_it_leaves(fleet: Fleet, portal: PortalServer) -> None:
    portal.stop()
    fleet.start()
    portal.start()
    portal.wait_for(lambda: portal.syncs, "first sync")
    portal.stop()
    portal.start()
    with portal.lock:
        seen = len(portal.syncs)
    portal.wait_for(lambda: len(portal.syncs) > seen, "sync after the portal was back")
    assert fleet.end(signal.SIGTERM) == 0
    assert portal.syncs[-1].is_leaving


def test_samples_are_marked_simulated_and_a_busy_device_shows_it(fleet: Fleet, portal: PortalServer) -> None:
    portal.want(launch(5))
    fleet.start()
    portal.wait_state(5, "running")

    def has_load() -> bool:
        series = portal.batches[-1].devices if portal.batches else ()
        return sorted((row.utilisation_pct[-1] or 0) > 0 for row in series) == [False, True]

    portal.wait_for(has_load, "one busy device of two")
    assert all(batch.is_simulated for batch in portal.batches)


def test_a_device_of_another_node_is_refused(fleet: Fleet, portal: PortalServer) -> None:
    foreign = launch(6)
    devices = (messages.DeviceShare("GPU-SIM-elsewhere", 1000),)
    portal.want(messages.Launch(**{**{f: getattr(foreign, f) for f in foreign.__struct_fields__}, "devices": devices}))
    fleet.start()
    ended = portal.wait_state(6, "ended")
    assert ended.exit is not None
    assert ended.exit.cause == "launch_failed"
    assert "GPU-SIM-elsewhere" in ended.exit.message


def test_at_the_max_runtime_the_node_itself_ends_it() -> None:
    member = SimulatedMember(launch(7, limit_s=300), BEGAN)
    assert member.report(BEGAN + timedelta(seconds=299)).state == "running"
    assert member.report(BEGAN + timedelta(seconds=301)).state == "stopping"
    ended = member.report(BEGAN + timedelta(seconds=400)).exit
    assert ended is not None
    assert (ended.cause, ended.signal, ended.ended_at) == ("timeout", 15, BEGAN + timedelta(seconds=304))


@pytest.mark.parametrize("seconds", [0, 61, 300, 599, 601, 5000])
def test_what_was_logged_stays_as_it_was(seconds: int) -> None:
    member = SimulatedMember(launch(8), BEGAN)
    early = member.log(BEGAN + timedelta(seconds=seconds))
    assert member.log(BEGAN + timedelta(seconds=seconds + 1000)).startswith(early)
    assert early.split(b"\n")[0].startswith(b"simulated")


def test_a_spec_that_names_a_node_twice_or_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    node = NodeSpec(NAME, "NVIDIA H800", 8, 64, 1 << 40)
    path = tmp_path / "spec.json"
    for nodes in ((node, node), (NodeSpec("../else", "NVIDIA H800", 8, 64, 1 << 40),)):
        path.write_bytes(json.encode(FleetSpec(nodes)))
        with pytest.raises(BadSettings):
            read_spec(path)
