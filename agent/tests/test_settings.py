"""Settings, the command line, and what stops an agent before it begins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import BadSettings
from agent.settings import OPTIONS, STOP_JOBS_VARIABLE, Settings, Simulation, parse
from agent.tests.agent_process import ROOT, AgentProcess, eventually
from agent.tests.portal_server import PortalServer

LEAST = ("--home", "/h", "--portal", "http://p")


def test_the_command_line_wins_over_the_environment() -> None:
    environment = {
        "SLUICE_AGENT_HOME": "/other",
        "SLUICE_PORTAL_URL": "https://portal.example/",
        "SLUICE_BROKER_URL": "redis://b/0",
        "SLUICE_SIMULATE": "H100 80GB:8",
        "SLUICE_AGENT_STOP_JOBS_ON_EXIT": "1",
        "SLUICE_AGENT_CPUS": "64",
    }
    assert parse(["--home", "/h", "--cpus", "8"], environment) == Settings(
        home=Path("/h"),
        portal_url="https://portal.example",
        broker_url="redis://b/0",
        simulation=Simulation("H100 80GB", 8),
        is_stopping_jobs_on_exit=True,
        cpus=8,
    )


def test_a_secret_may_come_as_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "broker"
    secret.write_text("redis://:password@b/0\n")
    assert parse(LEAST, {"SLUICE_BROKER_URL_FILE": str(secret)}).broker_url == "redis://:password@b/0"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--home (or SLUICE_AGENT_HOME) is required"),
        (("--home", "/h"), "--portal (or SLUICE_PORTAL_URL) is required"),
        (("--home", "/h", "--portal", "portal"), "--portal: 'portal' is not an http"),
        ((*LEAST, "--broker", "amqp://b"), "--broker: only redis"),
        ((*LEAST, "--simulate", "H100"), "--simulate: 'H100' is not MODEL:COUNT"),
        ((*LEAST, "--simulate", "H100:x"), "--simulate: 'x' is not a whole number"),
        ((*LEAST, "--simulate", "H100:0"), "--simulate: 0 is less than 1"),
        ((*LEAST, "--simulate", "H100:65"), "--simulate: 65 devices are more than 64"),
        ((*LEAST, "--cpus", "-1"), "--cpus: -1 is less than 1"),
        ((*LEAST, "--wrong"), "unrecognized arguments: --wrong"),
    ],
)
def test_bad_settings_are_named(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(BadSettings) as caught:
        parse(arguments, {})
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def run_agent(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "agent", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.returncode, done.stderr


def test_bad_settings_end_the_process_with_one_line_and_status_2(tmp_path: Path) -> None:
    assert run_agent("--home", str(tmp_path), "--portal", "x") == (
        2,
        "agent: --portal: 'x' is not an http:// or https:// address\n",
    )


def test_without_a_token_a_new_node_says_what_is_missing(tmp_path: Path, portal: PortalServer) -> None:
    arguments = ("--home", str(tmp_path), "--portal", portal.url, "--simulate", "H100:1")
    status, text = run_agent(*arguments)
    assert (status, text.count("\n")) == (2, 1)
    assert "not enrolled: give --enrolment-token-file" in text
    status, text = run_agent(*arguments, "--enrolment-token-file", str(tmp_path / "none"))
    assert (status, text.count("\n")) == (2, 1)
    assert "No such file" in text


def test_a_refused_token_ends_the_agent(portal: PortalServer, agent: AgentProcess) -> None:
    agent.token_file.write_text("used up")
    agent.start()
    assert agent.process is not None
    assert agent.process.wait(20) == 1
    assert "enrolment refused" in agent.log.read_text()
    assert not (agent.home / "node.json").exists()


def test_a_node_enrols_once_says_what_it_has_and_keeps_its_token_closed(
    portal: PortalServer, agent: AgentProcess
) -> None:
    agent.start("--cpus", "96", "--memory-bytes", str(1 << 40))
    portal.wait_for(lambda: portal.syncs, "a sync")
    hardware = portal.enrolments[0].hardware
    assert (hardware.is_simulated, hardware.cpus, hardware.memory_bytes) == (True, 96, 1 << 40)
    assert [(d.gpu_model, d.index, d.memory_bytes >> 30, d.is_simulated) for d in hardware.devices] == [
        ("H100", 0, 80, True),
        ("H100", 1, 80, True),
    ]
    assert (agent.home / "node.json").stat().st_mode & 0o777 == 0o600
    assert agent.end() == 0
    agent.token_file.unlink()
    seen = len(portal.syncs)
    agent.start()
    portal.wait_for(lambda: len(portal.syncs) > seen, "a sync of the second start")
    assert len(portal.enrolments) == 1
    assert portal.syncs[-1].hardware.devices == hardware.devices


def test_an_agent_that_starts_before_the_portal_waits_for_it(portal: PortalServer, agent: AgentProcess) -> None:
    portal.stop()
    agent.start()
    eventually(lambda: b"portal not reached" in agent.log.read_bytes(), "a failed try")
    portal.start()
    portal.wait_for(lambda: portal.syncs, "a sync")


def test_a_second_agent_of_the_same_home_is_refused(portal: PortalServer, agent: AgentProcess) -> None:
    agent.start()
    portal.wait_for(lambda: portal.syncs, "a sync")
    status, text = run_agent("--home", str(agent.home), "--portal", portal.url)
    assert (status, text) == (1, f"agent: another agent already runs in {agent.home}\n")


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "agent.md").read_text()
    missing = [name for option in OPTIONS for name in (option.flag, option.variable) if f"| `{name}`" not in text]
    assert missing == []
    assert STOP_JOBS_VARIABLE in text
