"""``./run`` itself: what it reads, what it says when it gives up, and that it needs nothing but Python."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from portal.setup.cli import main, take_data
from portal.setup.manage import FILE_COMMANDS
from portal.setup.places import ROOT
from portal.setup.refusal import ExitCode, Refusal
from portal.tests.setup.instances import run_once
from portal.tests.test_compose import variables_read_by_settings

OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "rest"),
    [
        (["--data", "/d", "--port", "1"], ["--port", "1"]),
        (["manage", "check", "--data", "/d"], ["manage", "check"]),
        (["--data=/d", "manage", "check"], ["manage", "check"]),
        (["--data", "/d", "manage", "x", "--", "--data", "y"], ["manage", "x", "--data", "y"]),
    ],
)
def test_the_data_folder_stands_before_or_after_the_command(arguments: list[str], rest: list[str]) -> None:
    assert take_data(arguments) == (Path("/d"), rest)


def test_the_data_folder_comes_from_the_environment_then_from_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_DATA", raising=False)
    assert take_data([])[0] == ROOT / "var"
    monkeypatch.setenv("SLUICE_DATA", "/elsewhere")
    assert take_data([])[0] == Path("/elsewhere")
    assert take_data(["--data", "/d"])[0] == Path("/d")


def test_data_without_a_folder_is_refused() -> None:
    with pytest.raises(Refusal, match="--data needs a folder"):
        take_data(["--data"])


def test_an_unknown_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frobnicate"]) == ExitCode.USAGE
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--port", "0"], ["--port", "x"], ["--prt", "1"], ["--empt"]])
def test_wrong_options_are_refused(arguments: list[str]) -> None:
    assert run_once(*arguments).returncode == ExitCode.USAGE


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    done = run_once("--data", str(blocked), "--no-browser")
    assert done.returncode == ExitCode.DATA_FOLDER
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_backup_of_nothing_and_a_restore_of_nothing_are_refused(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    assert run_once("backup", str(tmp_path / "x.tar"), *data).returncode == ExitCode.BACKUP
    assert run_once("restore", str(tmp_path / "x.tar"), *data).returncode == ExitCode.BACKUP
    assert not (tmp_path / "data").exists()


def test_any_python_reads_the_entry_and_is_told_what_is_needed() -> None:
    ast.parse((ROOT / "run").read_text(), feature_version=(3, 7))
    too_old = (ROOT / "run").read_text().replace("OLDEST = (3, 11)", "OLDEST = (99, 0)")
    done = subprocess.run([sys.executable, "-c", too_old], capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.WRONG_PYTHON
    assert done.stderr.count("\n") == 1


def test_the_entry_needs_the_standard_library_only() -> None:
    code = "import sys; sys.path.insert(0, '.'); import portal.setup.cli"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_file_command_touches_no_data_folder(tmp_path: Path) -> None:
    command = sorted(FILE_COMMANDS)[0]
    run_once("manage", command, "--help", "--data", str(tmp_path / "data"))
    assert not (tmp_path / "data").exists()


def test_every_exit_code_is_documented() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", OPERATIONS, re.MULTILINE)}
    assert documented == {0, 1, *map(int, ExitCode)}


def test_every_setting_is_documented() -> None:
    named = set(re.findall(r"`(SLUICE_[A-Z_]+)", OPERATIONS))
    for prefix, row in re.findall(r"^\| `(SLUICE_[A-Z]+)_[A-Z]+(.*)`.* \|", OPERATIONS, re.MULTILINE):
        named |= {prefix + suffix for suffix in re.findall(r"`(_[A-Z_]+)", row + "`")}
    assert variables_read_by_settings() <= named
