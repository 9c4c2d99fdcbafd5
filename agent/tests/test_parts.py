"""Small parts on their own: keys, checkpoints, durable files, back-off, plans, logs."""

import os
from pathlib import Path

import pytest

from agent import durable
from agent.backoff import Backoff
from agent.errors import LaunchRefused
from agent.messages import DeviceReport, DeviceShare, Launch
from agent.runner import checkpoints, keys, proctree
from agent.runner.folders import MemberFolder, delete
from agent.runner.keys import LaunchKeys
from agent.runner.plan import Node, Taken, check_devices, make_plan
from agent.tests.agent_process import launch

NODE = Node(node_id=1, tag="t", log_cap_bytes=1000, cpu_ids=(0, 1, 2, 3))
NOTHING = Taken({}, frozenset())


def test_a_key_is_remembered_durably(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    LaunchKeys(path).add("one")
    again = LaunchKeys(path)
    assert "one" in again
    assert "two" not in again


def test_a_key_cut_by_a_crash_was_not_started(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    LaunchKeys(path).add("one")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:10])
    again = LaunchKeys(path)
    assert "one" in again
    again.add("two")
    third = LaunchKeys(path)
    assert "one" in third
    assert "two" in third
    assert path.read_bytes().count(b"\n") == 2


def test_the_file_of_keys_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "KEPT", 10)
    monkeypatch.setattr(keys, "SLACK", 5)
    held = LaunchKeys(tmp_path / "keys")
    for number in range(100):
        held.add(str(number))
    assert (tmp_path / "keys").read_bytes().count(b"\n") <= 15
    assert all(str(number) in held for number in range(90, 100))
    assert "0" not in held


def test_the_newest_checkpoint_passes_over_unfinished_names_links_and_depth(tmp_path: Path) -> None:
    assert checkpoints.newest(tmp_path / "none") is None
    deep = tmp_path / "a/b/c/d/e"
    deep.mkdir(parents=True)
    at = {"old.pt": 100, ".hidden": 900, "x.tmp": 800, "a/b/c/d/ok.pt": 300, "a/b/c/d/e/too-deep.pt": 700}
    for name, seconds in at.items():
        path = tmp_path / name
        path.touch()
        os.utime(path, (seconds, seconds))
    (tmp_path / "link").symlink_to("/")
    os.utime(tmp_path / "link", (200, 200), follow_symlinks=False)
    assert checkpoints.newest(tmp_path) == 300
    assert checkpoints.newest(tmp_path, with_unfinished=True) == 900


def test_the_look_for_checkpoints_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_ENTRIES", 10)
    for number in range(50):
        (tmp_path / str(number)).touch()
    assert len(list(checkpoints._walk(tmp_path))) == 10


def test_a_durable_write_replaces_whole_and_sets_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "record"
    durable.write_durably(path, b"one")
    durable.write_durably(path, b"two", mode=0o640)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["record"]


def test_a_reserve_becomes_the_record_without_a_trace_of_its_size(tmp_path: Path) -> None:
    durable.reserve(tmp_path / "reserve", 8192)
    assert (tmp_path / "reserve").stat().st_size == 8192
    durable.write_into_reserve(tmp_path / "reserve", tmp_path / "record", b"short")
    assert (tmp_path / "record").read_bytes() == b"short"


def test_back_off_doubles_with_jitter_up_to_its_bound() -> None:
    backoff = Backoff(1, 15)
    waits = [backoff.failed() for _ in range(12)]
    for number, wait in enumerate(waits):
        step = min(15, 2**number)
        assert step / 2 <= wait <= step
    backoff.succeeded()
    assert backoff.failed() <= 1


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (launch(1, ["a"], env={"A=B": "x"}), "a variable's name is empty or contains '='"),
        (launch(1, ["a"], env={"A": "x\0"}), "command or environment contains a zero byte"),
        (launch(1, ["a"], signal="SIGNONE"), "unknown signal SIGNONE"),
        (launch(1, [""]), "the command is empty"),
    ],
)
def test_a_plan_refuses_what_cannot_be_started(wanted: Launch, says: str) -> None:
    with pytest.raises(LaunchRefused, match=says.replace("(", r"\(")):
        make_plan(wanted, NODE, NOTHING, Path("/w"))


def test_cpus_are_given_out_once_and_only_when_there_are_enough() -> None:
    wanted = launch(1, ["a"], cpus=2)
    assert make_plan(wanted, NODE, NOTHING, Path("/w")).cpu_ids == (0, 1)
    assert make_plan(wanted, NODE, Taken({}, frozenset({0, 2})), Path("/w")).cpu_ids == (1, 3)
    assert make_plan(wanted, NODE, Taken({}, frozenset({0, 1, 2})), Path("/w")).cpu_ids == ()
    assert make_plan(launch(1, ["a"]), NODE, NOTHING, Path("/w")).cpu_ids == ()


def test_the_checkpoint_folder_is_inside_the_jobs_folder_unless_absolute() -> None:
    inside = make_plan(launch(1, ["a"], checkpoint_dir="ckpt"), NODE, NOTHING, Path("/w"))
    assert (inside.checkpoint_dir, inside.env["SLUICE_CHECKPOINT_DIR"]) == ("/w/ckpt", "/w/ckpt")
    assert make_plan(launch(1, ["a"], checkpoint_dir="/s/c"), NODE, NOTHING, Path("/w")).checkpoint_dir == "/s/c"


def test_real_devices_are_shown_to_the_job_by_uuid() -> None:
    wanted = launch(1, ["a"], devices=(DeviceShare("GPU-1", 1000), DeviceShare("GPU-2", 1000)))
    plan = make_plan(wanted, NODE, NOTHING, Path("/w"))
    assert plan.env["CUDA_VISIBLE_DEVICES"] == "GPU-1,GPU-2"
    assert "SLUICE_SIMULATED_DEVICES" not in plan.env


def test_a_share_fits_beside_others_and_a_lost_device_is_refused() -> None:
    devices = (DeviceReport("GPU-1", 0, "X", 1, False), DeviceReport("GPU-2", 1, "X", 1, False, "lost"))
    half = launch(1, ["a"], devices=(DeviceShare("GPU-1", 500),))
    check_devices(half, devices, Taken({"GPU-1": 500}, frozenset()))
    with pytest.raises(LaunchRefused, match="still held"):
        check_devices(half, devices, Taken({"GPU-1": 501}, frozenset()))
    with pytest.raises(LaunchRefused, match="is lost"):
        check_devices(launch(1, ["a"], devices=(DeviceShare("GPU-2", 1),)), devices, NOTHING)


def test_the_lock_of_a_folder_has_one_holder(tmp_path: Path) -> None:
    folder = MemberFolder(tmp_path)
    held = folder.take_lock()
    assert held is not None
    assert folder.take_lock() is None
    assert folder.is_locked()
    os.close(held)
    assert not folder.is_locked()


def test_a_process_is_named_by_pid_and_start_time() -> None:
    own = proctree.read_process(os.getpid())
    assert own is not None
    assert proctree.is_alive(own.pid, own.start_ticks)
    assert not proctree.is_alive(own.pid, own.start_ticks + 1)
    assert proctree.resident_bytes([own]) >= proctree.proportional_bytes([own]) > 1 << 20


def deep_folder(top: Path, depth: int) -> None:
    """Deeper than any path may be long, as a job can make it."""
    before = os.open(".", os.O_RDONLY)
    try:
        top.mkdir()
        os.chdir(top)
        for _ in range(depth):
            os.mkdir("d")  # noqa: PTH102 - relative to where we are, or the path would be too long
            os.chdir("d")
        Path("file").touch()
    finally:
        os.fchdir(before)
        os.close(before)


def test_a_folder_is_deleted_however_deep_a_job_made_it(tmp_path: Path) -> None:
    deep_folder(tmp_path / "deep", 3000)
    delete([tmp_path / "deep"])
    assert not (tmp_path / "deep").exists()


def test_deleting_follows_no_link_and_opens_what_a_job_closed(tmp_path: Path) -> None:
    kept, top = tmp_path / "kept", tmp_path / "top"
    kept.mkdir()
    (kept / "file").touch()
    (top / "closed/inside").mkdir(parents=True)
    (top / "closed/inside/file").touch()
    (top / "closed/link").symlink_to(kept)
    (top / "closed/inside").chmod(0)
    (top / "closed").chmod(0)
    delete([top, tmp_path / "never-was"])
    assert not top.exists()
    assert (kept / "file").exists()
