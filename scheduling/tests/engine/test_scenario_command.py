"""``schedule_scenario`` on files: what it writes, prints and exits with; and numbers that are exact."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from scheduling.engine import decide
from scheduling.engine.scenario import document_of, explanation
from scheduling.engine.scenario.writing import gpus
from scheduling.tests.engine.scenario_files import FOLDER, read_again, small


def _file(folder: Path, document: Any) -> str:
    path = folder / "in.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(path)


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("schedule_scenario", *arguments)
    return capsys.readouterr().out


def test_a_decision_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(_printed(capsys, str(FOLDER / "KA07.json")))
    assert list(said) == ["schema", "share", "unassigned", "start", "preempt", "earmarks", "wait"]
    assert said["start"] == [{"job": "p0", "placement": {"n0": 4}, "after": ["r2"]}]
    assert said["preempt"] == [{"job": "r2", "for": "p0", "lost_gpu_seconds": 0}]
    assert said["earmarks"] == [{"job": "p0", "node": "n0", "gpus": 4}]
    [wait] = said["wait"]
    assert list(wait) == ["job", "reason", "text", "needs", "until"]
    assert (wait["job"], wait["until"]) == ("p1", None)


def test_capacity_alone_gives_shares_alone(capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(_printed(capsys, str(FOLDER / "FS15.json")))
    assert said == {
        "schema": "decision/1",
        "share": {"q1": {"gpu-a": 32.55}, "q2": {"gpu-a": 9.5}, "q3": {"gpu-a": 1.65}},
        "unassigned": {"gpu-a": 1.3},
    }


def test_out_is_written_and_nothing_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert _printed(capsys, str(FOLDER / "KA01.json"), "--out", str(out)) == ""
    assert json.loads(out.read_text())["schema"] == "decision/1"


@pytest.mark.parametrize(
    ("name", "job", "text"),
    [
        ("KA07", "p0", "p0: starts once r2 have stopped: 4 on n0.\n"),
        ("KA07", "r2", "r2 stops for p0; 0 GPU-seconds since its last checkpoint are lost.\n"),
        ("KA07", "r0", "r0: nothing changes.\n"),
        ("inside-id", "p0", "p0: starts now: 1 on n0.\n"),
        ("gang-stale", "r0", "r0 stops because it has lost members; 0 GPU-seconds"),
        ("KA07", "p1", "p1 waits (no_room): It needs one node with 4 GPUs"),
    ],
)
def test_a_job_is_explained(name: str, job: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _printed(capsys, str(FOLDER / f"{name}.json"), "--explain", job).startswith(text)


def test_a_job_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(CommandError, match="no job “p9”") as refusal:
        call_command("schedule_scenario", str(FOLDER / "KA07.json"), "--explain", "p9")
    assert refusal.value.returncode == 2


def test_faults_are_lines_and_nothing_is_written(tmp_path: Path) -> None:
    document = small()
    document["jobs"][0]["gpus"] = -1
    document["nodes"][0]["state"] = "new\nline"
    with pytest.raises(CommandError) as refusal:
        call_command("schedule_scenario", _file(tmp_path, document), "--out", str(tmp_path / "out.json"))
    assert refusal.value.returncode == 2
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()] == ["$.nodes[0].state", "$.jobs[0].gpus"]
    assert not (tmp_path / "out.json").exists()


def test_a_shell_sees_the_faults_and_nothing_else(tmp_path: Path) -> None:
    """No database is reached: there is none at this address."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "schedule_scenario"]
    nowhere = {
        "SLUICE_DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "DJANGO_SETTINGS_MODULE": "portal.settings.test",
    }
    ended = subprocess.run(
        [*command, _file(tmp_path, {"schema": "scenario/1"})], env=nowhere, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "$.nodes: missing; give nodes, or only a capacity by GPU model\n"
    ended = subprocess.run(
        [*command, str(FOLDER / "KA01.json")], env=nowhere, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_numbers_are_the_decimals_that_are_written() -> None:
    document = small()
    document["projects"][1]["weight"] = 0.1
    document["jobs"][1]["gpus"] = 0.29
    document["jobs"][1]["placement"] = {"n0": 0.29}
    snapshot = read_again(document).snapshot
    assert snapshot.projects[1].entitlement.weight.limit_denominator() == snapshot.projects[1].entitlement.weight
    assert str(snapshot.projects[1].entitlement.weight) == "1/10"
    assert next(job.ask.milli for job in snapshot.jobs if job.name == "s0") == 290


def test_numbers_of_names_sort_as_the_names() -> None:
    scenario = read_again(small())
    assert scenario.names.jobs == {"p0": 1, "r0": 2, "s0": 3}
    assert scenario.names.owners == {"area": 1, "part": 2, "q0": 3, "q1": 4}
    assert sorted(scenario.names.nodes.values()) == [1, 2]


def test_placements_are_laid_on_devices_by_order() -> None:
    document = small()
    document["jobs"] = [
        {"id": "b", "project": "q0", "gpus": 0.5, "state": "running", "placement": {"n0": 0.5}, "order": 2},
        {"id": "a", "project": "q0", "gpus": 0.25, "state": "running", "placement": {"n0": 0.25}, "order": 1},
        {"id": "c", "project": "q1", "gpus": 0.25, "state": "running", "placement": {"n0": 0.25}, "order": 3},
        {"id": "d", "project": "q1", "gpus": 2, "state": "running", "placement": {"n0": 2}, "order": 4},
        {"id": "e", "project": "q0", "gpus": 0.75, "state": "running", "placement": {"n0": 0.75}, "order": 5},
    ]
    document["earmarks"] = []
    jobs = {job.name: job for job in read_again(document).snapshot.jobs}
    first = 1024
    assert [list(jobs[name].placement[1]) for name in "abcde"] == [
        [first + 2],
        [first + 2],
        [first + 3],
        [first, first + 1],
        [first + 3],
    ]
    assert {job.gpu_model for job in jobs.values()} == {"gpu-a"}


def test_every_printed_sentence_is_of_this_scenario() -> None:
    scenario = read_again(small())
    decision = decide(scenario.snapshot, scenario.now, scenario.policy)
    document = document_of(decision, scenario)
    assert {wait["job"] for wait in document["wait"]} == {"p0"}
    assert explanation(decision, scenario, "s0") == []
    assert (gpus(2000), gpus(1500)) == (2, 1.5)
