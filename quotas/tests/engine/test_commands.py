"""The two commands on files: what they write, print and exit with."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from quotas.tests.engine.instances import ask, instance, model, project, random_instance


def _file(folder: Path, document: Any, name: str = "in.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def _refused(*arguments: Any) -> CommandError:
    with pytest.raises(CommandError) as refusal:
        call_command(*map(str, arguments))
    return refusal.value


def test_an_instance_gives_a_plan_that_passes_its_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = _file(tmp_path, random_instance(3)), tmp_path / "plan.json"
    call_command("solve_allocation", str(source), "--out", str(out))
    call_command("audit_plan", str(source), str(out))
    plan = json.loads(out.read_text())
    assert plan["schema"] == "plan/1"
    assert plan["seconds"] >= 0
    assert capsys.readouterr().out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.json", "plan.json"]


def test_two_solves_differ_in_the_seconds_only(tmp_path: Path) -> None:
    source, plans = _file(tmp_path, random_instance(4)), []
    for name in ("one.json", "two.json"):
        call_command("solve_allocation", str(source), "--out", str(tmp_path / name))
        lines = (tmp_path / name).read_text().splitlines()
        plans.append([line for line in lines if not line.startswith(' "seconds"')])
    assert plans[0] == plans[1]


def test_every_fault_is_a_line_and_nothing_is_written(tmp_path: Path) -> None:
    document = instance([project("a", score="high")], [model(capacity=-1)])
    refusal = _refused("solve_allocation", _file(tmp_path, document), "--out", tmp_path / "plan.json")
    assert refusal.returncode == 2
    assert [line.split(":")[0] for line in str(refusal).splitlines()] == [
        "$.gpu_models[0].capacity",
        "$.projects[0].score",
    ]
    assert not (tmp_path / "plan.json").exists()


def _run(folder: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, as a shell sees it."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_shell_sees_the_faults_and_nothing_else(tmp_path: Path) -> None:
    document = instance([project("a", score="high", models={"b\n2": ask()})])
    ended = _run(tmp_path, "solve_allocation", _file(tmp_path, document), "--out", "plan.json")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert [line.split(":")[0] for line in ended.stderr.splitlines()] == [
        "$.projects[0].models.b\\n2",
        "$.projects[0].score",
    ]


def test_a_shell_sees_what_it_asked_for_and_nothing_else(tmp_path: Path) -> None:
    """Not the solver's banner; and a device is written to, never replaced."""
    target = tmp_path / "real.json"
    (tmp_path / "link.json").symlink_to(target)
    source = _file(tmp_path, instance([project("a")]))
    ended = _run(tmp_path, "solve_allocation", source, "--out", "link.json", "--explain", "a")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("a: 8 h100")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(target.read_text())["status"] == "optimal"


def test_a_folder_is_no_place_for_a_plan(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    source = _file(tmp_path, instance([]))
    assert _refused("solve_allocation", source, "--out", tmp_path / "folder").returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.json"]


@pytest.mark.parametrize("text", ["", "{", '{"schema": NaN}', "\ufeff[]"])
def test_what_is_no_json_is_bad_input(tmp_path: Path, text: str) -> None:
    refusal = _refused("solve_allocation", _file(tmp_path, text), "--out", tmp_path / "plan.json")
    assert refusal.returncode == 2


def test_a_file_that_is_not_there_or_no_text_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("absent.json", "binary"):
        assert _refused("solve_allocation", tmp_path / name, "--out", tmp_path / "plan.json").returncode == 2


def test_a_plan_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    refusal = _refused("solve_allocation", _file(tmp_path, instance([])), "--out", tmp_path / "no" / "plan.json")
    assert (refusal.returncode, str(refusal).startswith("--out: ")) == (2, True)


def test_the_instance_is_never_written_over(tmp_path: Path) -> None:
    source = _file(tmp_path, instance([project("a")]))
    (tmp_path / "link.json").symlink_to(source)
    before = source.read_bytes()
    for out in (source, tmp_path / "link.json"):
        refusal = _refused("solve_allocation", source, "--out", out)
        assert (refusal.returncode, str(refusal)) == (2, f"--out: {out} is the input itself")
    assert source.read_bytes() == before


def test_a_path_that_no_file_can_have_is_bad_input(tmp_path: Path) -> None:
    source = _file(tmp_path, instance([project("a")]))
    assert _refused("solve_allocation", source, "--out", f"{tmp_path}/a\0b").returncode == 2
    assert _refused("solve_allocation", f"{tmp_path}/a\0b", "--out", tmp_path / "plan.json").returncode == 2


@pytest.mark.parametrize("seconds", ["nan", "-1", "soon"])
def test_what_is_no_time_is_refused(tmp_path: Path, seconds: str) -> None:
    source = _file(tmp_path, instance([project("a")]))
    ended = _run(tmp_path, "solve_allocation", source, "--out", "plan.json", "--seconds", seconds)
    assert (ended.returncode, (tmp_path / "plan.json").exists()) == (2, False)
    assert "--seconds" in ended.stderr.splitlines()[-1]


def test_a_project_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = _file(tmp_path, instance([project("a"), project("b")], [model(capacity=10)]))
    call_command("solve_allocation", str(source), "--out", str(tmp_path / "plan.json"), "--explain", "a")
    said = capsys.readouterr().out
    assert "a: 5 h100 (5 guaranteed, limit 8)" in said
    assert "- h100 is used up at this level" in said
    refusal = _refused("solve_allocation", source, "--out", tmp_path / "other.json", "--explain", "zz")
    assert (refusal.returncode, (tmp_path / "other.json").exists()) == (2, False)


def test_without_time_the_plan_is_greedy(tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    call_command(
        "solve_allocation", str(_file(tmp_path, instance([project("a")]))), "--out", str(out), "--seconds", "0"
    )
    plan = json.loads(out.read_text())
    assert (plan["status"], plan["gap"]) == ("feasible", 0.0)


def test_a_broken_plan_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = _file(tmp_path, instance([project("a")], [model(capacity=4)])), tmp_path / "plan.json"
    call_command("solve_allocation", str(source), "--out", str(out))
    plan = json.loads(out.read_text())
    plan["quotas"][0]["gpus"] = 5
    refusal = _refused("audit_plan", source, _file(tmp_path, plan, "broken.json"))
    assert refusal.returncode == 1
    assert "h100: 5 GPUs given, 4 usable" in capsys.readouterr().out
    assert _refused("audit_plan", source, source).returncode == 2
