"""Children, records and leftovers, with real processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.setup.refusal import ExitCode, Refusal
from portal.supervisor import children
from portal.supervisor.children import Child, Service
from portal.supervisor.instance import Instance, Ports, free_port, is_free
from portal.supervisor.leftovers import clear_leftovers
from portal.supervisor.postgres import Postgres
from portal.supervisor.processes import Identity, identify, marked, read_record, write_record
from portal.supervisor.supervisor import StopRequested, Supervisor
from portal.tests.setup.instances import eventually

SLEEPS = "import time; time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); {SLEEPS}"


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    instance = Instance(tmp_path / "data")
    instance.prepare()
    return instance


@pytest.fixture
def supervisor(instance: Instance) -> Iterator[Supervisor]:
    supervisor = Supervisor(instance)
    yield supervisor
    supervisor.stop()


def service(name: str, code: str, instance: Instance, stop_seconds: float = 5.0) -> Service:
    environment = {"PATH": os.environ["PATH"], **instance.mark()}
    return Service(name, [sys.executable, "-c", code], environment, stop_seconds=stop_seconds)


def test_a_child_that_does_not_stay_up_ends_the_start_with_its_last_line(
    supervisor: Supervisor, instance: Instance
) -> None:
    supervisor.start_stage([service("web", "import sys; print('no module named x'); sys.exit(3)", instance)])
    with pytest.raises(Refusal, match="web does not stay up: no module named x") as caught:
        supervisor.wait_for(lambda: False, 60, lambda: "too late")
    assert caught.value.code == ExitCode.SERVICE


def test_what_is_not_ready_in_time_is_named(supervisor: Supervisor) -> None:
    with pytest.raises(Refusal, match="the clock"):
        supervisor.wait_for(lambda: False, 0.2, lambda: "the clock")


def test_stages_stop_in_reverse_order_and_grandchildren_go_too(supervisor: Supervisor, instance: Instance) -> None:
    note = instance.folder / "order"
    code = (
        "import signal, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}])\n"
        "def stop(*_):\n"
        f"    open({str(note)!r}, 'a').write(sys.argv[1]); sys.exit()\n"
        "signal.signal(signal.SIGTERM, stop); print('up', flush=True); time.sleep(600)\n"
    )
    for name in ("a", "b"):
        argv = [sys.executable, "-c", code, name]
        supervisor.start_stage([Service(name, argv, {"PATH": os.environ["PATH"], **instance.mark()})])
    eventually(lambda: all("up" in (instance.logs / f"{name}.log").read_text() for name in "ab"))
    supervisor.stop()
    assert note.read_text() == "ba"
    assert marked(instance.secret("mark")) == []


def test_a_child_that_ignores_the_request_is_killed(supervisor: Supervisor, instance: Instance) -> None:
    supervisor.start_stage([service("deaf", STUBBORN, instance, stop_seconds=0.3)])
    eventually(lambda: "up" in (instance.logs / "deaf.log").read_text())
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 5
    assert marked(instance.secret("mark")) == []


def test_a_signal_is_a_request_to_stop(supervisor: Supervisor) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        supervisor.catch_signals()
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(StopRequested):
            supervisor.tick()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_pauses_between_restarts_grow(instance: Instance) -> None:
    child = Child(service("x", "raise SystemExit(1)", instance), instance)
    pauses = []
    for _ in range(3):
        child.start()
        eventually(lambda: not child.is_running)
        assert child.notice_death() == "exit code 1"
        assert child.notice_death() is None
        pauses.append(child.restart_at - time.monotonic())
    assert pauses[0] < pauses[1] < pauses[2]


def test_logs_are_bounded_while_the_child_writes(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LOG_BYTES", 1000)
    child = Child(service("x", "import sys\nfor l in sys.stdin: pass", instance), instance)
    for turn in range(6):
        child.log.write_text(f"{turn}" * 1000)
        child.rotate_log()
    assert child.log.read_text() == ""
    assert [Path(f"{child.log}.{number}").read_text()[0] for number in (1, 2, 3)] == ["5", "4", "3"]
    assert not Path(f"{child.log}.4").exists()


def test_a_recycled_number_is_not_the_child(tmp_path: Path) -> None:
    mine = identify(os.getpid())
    assert mine is not None
    assert mine.is_alive()
    assert not Identity(mine.pid, mine.started + 1, mine.boot).is_alive()
    assert not Identity(mine.pid, mine.started, "another boot").is_alive()
    write_record(tmp_path / "x.pid", os.getpid())
    assert read_record(tmp_path / "x.pid") == mine
    (tmp_path / "x.pid").write_text("12 garb")
    assert read_record(tmp_path / "x.pid") is None


def test_leftovers_go_and_strangers_stay(instance: Instance) -> None:
    environment = {"PATH": os.environ["PATH"]}
    recorded = subprocess.Popen([sys.executable, "-c", SLEEPS], env=environment, start_new_session=True)
    unrecorded = subprocess.Popen([sys.executable, "-c", SLEEPS], env={**environment, **instance.mark()})
    stranger = subprocess.Popen([sys.executable, "-c", SLEEPS], env=environment, start_new_session=True)
    try:
        write_record(instance.run / "web.pid", recorded.pid)
        recycled = identify(stranger.pid)
        assert recycled is not None
        (instance.run / "beat.pid").write_text(f"{recycled.pid} {recycled.started - 1} {recycled.boot}\n")
        eventually(lambda: bool(marked(instance.secret("mark"))))
        clear_leftovers(instance)
        assert recorded.wait(timeout=5) == -signal.SIGKILL
        assert unrecorded.wait(timeout=5) == -signal.SIGKILL
        assert stranger.poll() is None
        assert list(instance.run.glob("*.pid")) == []
    finally:
        for process in (recorded, unrecorded, stranger):
            process.kill()
            process.wait()


def test_a_postmaster_file_that_names_another_program_is_removed(instance: Instance) -> None:
    instance.postgres.mkdir()
    path = instance.postgres / "postmaster.pid"
    path.write_text(f"{os.getpid()}\n/elsewhere\n")
    Postgres(instance).clear_stale_lock()
    assert not path.exists()


def test_one_owner_at_a_time(instance: Instance) -> None:
    other = Instance(instance.folder)
    assert instance.try_lock("run")
    assert not other.try_lock("manage")
    assert other.owner() == "run"
    instance.unlock()
    assert other.try_lock("manage")
    other.unlock()


def test_ports_are_kept_while_they_are_free(instance: Instance) -> None:
    kept = instance.settle_ports()
    assert instance.settle_ports() == kept
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", kept.database))
        taken.listen()
        assert not is_free(kept.database)
        moved = instance.settle_ports()
    assert moved.database != kept.database
    assert moved.broker == kept.broker
    assert instance.ports() == moved == Ports(moved.database, moved.broker)


def test_settings_of_another_instance_are_not_passed_on(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_DATABASE_PASSWORD", "of another")
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "elsewhere")
    monkeypatch.setenv("SLUICE_TIME_ZONE", "Asia/Shanghai")
    environment = instance.environment()
    assert "SLUICE_DATABASE_PASSWORD" not in environment
    assert environment["DJANGO_SETTINGS_MODULE"] == "portal.settings.local"
    assert environment["SLUICE_TIME_ZONE"] == "Asia/Shanghai"
    assert not [value for value in environment.values() if value == instance.secret("database-password")]


def test_a_free_port_is_free() -> None:
    assert is_free(free_port())
