"""A whole instance: it starts, survives the death of each part, leaves nothing behind, moves by backup."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from redis.exceptions import RedisError

from portal.setup.refusal import ExitCode
from portal.supervisor.instance import HOST, free_port
from portal.tests.setup.instances import READY, Running, eventually, run_once

pytestmark = [pytest.mark.fault, pytest.mark.timeout(150)]
KINDS = [
    "postgres",
    "valkey",
    "web",
    "worker-solver",
    "worker-dispatch",
    "beat",
    "agent-local-1",
    "agent-local-2",
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One instance for this module; a test that ends it starts it again."""
    running = Running(tmp_path_factory.mktemp("one") / "data")
    try:
        line = running.start()
        assert READY.fullmatch(line), running.notes()
        yield running
    finally:
        if running.process is not None and running.process.poll() is None:
            running.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def kept_row(running: Running) -> str:
    """A committed row, which no killing may lose."""
    with running.database() as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('sluice')")
    return "sluice"


def answers(running: Running) -> bool:
    try:
        return running.broker().ping() is True
    except RedisError:
        return False


def row(running: Running) -> object:
    with running.database() as connection:
        found = connection.execute("SELECT word FROM kept").fetchone()
    return found[0] if found else None


def test_everything_is_up_and_says_so(running: Running) -> None:
    running.wait_until_ready()
    assert set(running.children()) == set(KINDS)
    answer = httpx.get(f"{running.address}/readyz", timeout=10)
    assert answer.status_code == 200, answer.text
    for name in ("database", "broker", "workers"):
        assert answer.json()[name]["ok"] is True
    assert httpx.get(f"{running.address}/livez", timeout=10).text == "ok\n"
    assert "sluice_build_info{" in httpx.get(f"{running.address}/metrics", timeout=10).text


def test_secrets_are_closed_and_on_no_command_line(running: Running) -> None:
    for path in running.instance.secrets.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    hidden = {path.read_bytes().strip() for path in running.instance.secrets.iterdir()} - {b""}
    for identity in running.processes():
        line = Path(f"/proc/{identity.pid}/cmdline").read_bytes()
        assert not [secret for secret in hidden if secret in line], line


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_child_comes_back_and_nothing_is_lost(running: Running, kept_row: str, kind: str) -> None:
    running.broker().set("kept", kept_row)
    before = running.children()
    signal_process(before[kind].pid)
    eventually(lambda: running.children().get(kind, before[kind]) != before[kind])
    eventually(lambda: set(running.children()) == set(KINDS))
    eventually(lambda: answers(running))
    running.forget_heartbeats()
    running.wait_until_ready()
    assert row(running) == kept_row
    assert running.broker().get("kept") == kept_row.encode()
    assert f"{kind} ended (signal SIGKILL)" in running.notes()


def test_a_killed_web_worker_comes_back(running: Running) -> None:
    web = running.children()["web"].pid
    workers = children_of(web)
    signal_process(workers[-1])
    eventually(lambda: workers[-1] not in children_of(web) and len(children_of(web)) == len(workers))
    running.wait_until_ready()


def test_the_same_folder_is_refused_while_in_use(running: Running) -> None:
    done = run_once("--data", str(running.folder), "--port", str(free_port()), "--no-browser")
    assert done.returncode == ExitCode.IN_USE
    assert str(running.folder) in done.stderr.splitlines()[-1]
    assert not running.missing()


def test_a_taken_port_is_refused(running: Running, tmp_path: Path) -> None:
    done = run_once("--port", str(running.port), "--no-browser", "--data", str(tmp_path / "other"))
    assert done.returncode == ExitCode.PORT_TAKEN
    assert f"port {running.port} is taken" in done.stderr
    assert "Traceback" not in done.stderr


def test_manage_uses_the_running_database_and_keeps_standard_output_clean(running: Running) -> None:
    done = run_once("manage", "diffsettings", "--data", str(running.folder), "--output", "unified")
    assert done.returncode == 0, done.stderr
    assert "sluice:" not in done.stdout
    assert not running.missing()


def test_the_next_start_clears_up_after_a_killed_supervisor(running: Running, kept_row: str) -> None:
    assert running.process is not None
    running.process.kill()
    running.process.wait()
    left = running.processes()
    assert len(left) >= len(KINDS) - 1
    assert READY.fullmatch(running.start()), running.notes()
    assert not [identity for identity in left if identity.is_alive()]
    assert row(running) == kept_row


def test_a_backup_becomes_a_second_instance_beside_the_first(running: Running, kept_row: str, tmp_path: Path) -> None:
    (running.instance.artefacts / "logs").mkdir(exist_ok=True)
    (running.instance.artefacts / "logs" / "1.log").write_bytes(b"line\n" * 1000)
    file = tmp_path / "sluice.tar"
    done = run_once("backup", str(file), "--data", str(running.folder))
    assert done.returncode == 0, done.stderr
    assert file.stat().st_mode & 0o077 == 0
    assert_refused_when_damaged(file, tmp_path)

    second = Running(tmp_path / "second")
    done = run_once("restore", str(file), "--data", str(second.folder))
    assert done.returncode == 0, done.stderr
    assert (second.instance.artefacts / "logs" / "1.log").read_bytes() == b"line\n" * 1000
    assert second.instance.secret("secret-key") == running.instance.secret("secret-key")
    assert run_once("restore", str(file), "--data", str(second.folder)).returncode == ExitCode.BACKUP

    assert READY.fullmatch(second.start()), second.notes()
    assert row(second) == kept_row
    assert not running.missing()
    assert_leaves_nothing(second, signal.SIGINT)
    assert not running.missing()


def test_sigterm_stops_everything_and_a_restart_keeps_data(running: Running, kept_row: str) -> None:
    assert_leaves_nothing(running, signal.SIGTERM)
    assert READY.fullmatch(running.start()), running.notes()
    assert row(running) == kept_row


def assert_leaves_nothing(running: Running, number: signal.Signals) -> None:
    before = [*running.processes(), *running.children().values()]
    assert running.end(number) == 0
    assert not [identity for identity in before if identity.is_alive()]
    assert running.processes() == []
    assert list(running.instance.run.glob("*.pid")) == []
    ports = running.instance.ports()
    for port in (running.port, ports.database, ports.broker):
        with socket.socket() as probe:
            assert probe.connect_ex((HOST, port)) != 0


def assert_refused_when_damaged(file: Path, folder: Path) -> None:
    data = bytearray(file.read_bytes())
    place = data.index(b"line\nline\n")
    data[place] ^= 1
    damaged = folder / "damaged.tar"
    damaged.write_bytes(data)
    done = run_once("restore", str(damaged), "--data", str(folder / "never"))
    assert done.returncode == ExitCode.BACKUP
    assert "checksums" in done.stderr
    assert not (folder / "never").exists()


def signal_process(pid: int) -> None:
    """Kill one process as the kernel would for lack of memory."""
    os.kill(pid, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    """The direct children of a process, the longest-lived first."""
    return sorted(int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
